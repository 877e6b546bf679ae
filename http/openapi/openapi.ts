/** The OpenAPI 3.1 document of a list of routes: derived from the schemas that validate, so it needs no maintenance. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { allPaths } from '../paths.ts';
import type { ResponseSpec, Route } from '../route.ts';
import { parametersOf } from '../schemas.ts';
import { exampleOf } from './examples.ts';
import { headerName, sharedComponents } from './openapi-components.ts';
import { errorResponses } from './openapi-errors.ts';
import { writePlainTypes } from './plain-types.ts';

export type DocumentInfo = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Shown in the order given; tags of routes that are not among them follow. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};

export type OpenApiDocument = ReturnType<typeof createDocument>;

/**
 * Describes every route that is not hidden, once, under the path that the contract lists; `x-also-at` holds its other
 * paths. Earlier forms of a path are listed too, marked as deprecated.
 */
export function openApiDocument(routes: readonly Route[], info: DocumentInfo): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    if (route.hidden) continue;
    const path = plainPath(route.path);
    paths[path] ??= {};
    const method = route.method.toLowerCase();
    paths[path][method] = operation(route);
    for (const alias of route.aliases ?? []) {
      const earlier = plainPath(alias);
      paths[earlier] ??= {};
      paths[earlier][method] = earlierForm(route);
    }
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: info.title, version: info.version, description: info.description },
      servers: [{ url: '/', description: 'This server.' }],
      tags: info.tags.map((tag) => ({ ...tag })),
      paths,
      components: { ...sharedComponents, schemas: piecesOf(routes) },
    },
    { override: ({ jsonSchema, zodSchema }) => tidy(jsonSchema, zodSchema) },
  );
  for (const route of routes) if (!route.hidden) finishParameters(document, route);
  writePlainTypes(document);
  return document;
}

/** Schemas of pieces that are never a whole body, by their ids. */
function piecesOf(routes: readonly Route[]): Record<string, z.ZodType> {
  const pieces = routes.flatMap(({ responses }) =>
    Object.values(responses).flatMap((spec) => spec.pieces ?? []),
  );
  return Object.fromEntries(pieces.map((piece) => [String(piece.meta()?.id), piece]));
}

const plainPath = (path: string) => path.replaceAll('+}', '}');

/** ECMAScript knows them; other readers, such as those in Python, refuse the whole document. */
const hasUnicodeProperty = /\\p\{/i;

/**
 * Removes details of zod that readers do not need: integers in paths and queries arrive as text, integers fit in a
 * double, and our replies may gain fields within a version.
 */
function tidy(schema: Record<string, unknown>, zodSchema: z.core.$ZodType): void {
  if ('example' in schema) {
    delete schema.example;
    const example = exampleOf(zodSchema);
    if (example !== undefined) schema.examples = [example];
  }
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (typeof schema.pattern === 'string' && hasUnicodeProperty.test(schema.pattern)) delete schema.pattern;
  // Generated clients parse a time, and compare the pattern with their own form of it.
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.type !== 'integer' && schema.type !== 'boolean') return;
  delete schema.pattern;
  if (Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string'))
    delete schema.enum;
  if (typeof schema.default === 'string') schema.default = JSON.parse(schema.default);
}

function operation(route: Route): ZodOpenApiOperationObject {
  const body = requestBody(route);
  const others = otherPaths(route);
  return {
    operationId: route.id,
    summary: route.summary,
    description: describe(route, others),
    tags: [...route.tags],
    security: security(route),
    requestParams: {
      ...(route.params === undefined ? {} : { path: parametersOf(route.params) }),
      ...(route.query === undefined ? {} : { query: parametersOf(route.query) }),
      ...(route.headers === undefined ? {} : { header: parametersOf(route.headers) }),
    },
    parameters: [
      { $ref: '#/components/parameters/RequestId' },
      ...(route.idempotent === undefined
        ? []
        : [{ $ref: '#/components/parameters/IdempotencyKey' } as const]),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...errorResponses(route),
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, spec]) => [status, response(spec)] as const),
      ),
    },
    ...(others.length === 0 ? {} : { 'x-also-at': others }),
  };
}

/** The same operation under an earlier path, with a name of its own. */
function earlierForm(route: Route): ZodOpenApiOperationObject {
  const { 'x-also-at': _others, ...same } = operation(route) as ZodOpenApiOperationObject & {
    readonly 'x-also-at'?: unknown;
  };
  return {
    ...same,
    operationId: `${route.id}AtEarlierPath`,
    summary: `${route.summary} (earlier form)`,
    deprecated: true,
  };
}

function otherPaths(route: Route): string[] {
  const [, ...others] = allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned');
  return others.map(plainPath);
}

function describe(route: Route, others: readonly string[]): string {
  const lines = route.description === undefined ? [] : [route.description];
  if (!route.access.open) {
    const { tokens, roles, scope } = route.access;
    lines.push(`Tokens: ${tokens.join(', ')}. Roles: ${roles.join(', ')}.`);
    if (scope !== undefined) lines.push(`Runner tokens require the scope \`${scope}\`.`);
  }
  if (route.bodyNames === 'PascalCase') lines.push('Field names are also accepted in camelCase.');
  if (others.length > 0) lines.push(`Also served at ${others.map((path) => `\`${path}\``).join(', ')}.`);
  return lines.join('\n\n');
}

/** One alternative for each kind of token, with the roles or scope that it needs. */
function security(route: Route): Record<string, string[]>[] {
  const rule = route.access;
  if (rule.open) return (route.credentials ?? []).map((name) => (name === 'none' ? {} : { [name]: [] }));
  return rule.tokens.map((kind) => ({
    [`${kind}Token`]: kind === 'runner' ? (rule.scope === undefined ? [] : [rule.scope]) : [...rule.roles],
  }));
}

/** Bytes of any type, shown by a small table. */
const someBytes = {
  schema: { type: 'string', format: 'binary' },
  example: 'time [s],speed [m/s]\n0.0,61.2\n0.1,61.4\n',
} as const;

function requestBody(route: Route): NonNullable<ZodOpenApiOperationObject['requestBody']> | null {
  if (route.body === undefined) return null;
  if (route.bodyMedia !== undefined) return { required: true, content: { [route.bodyMedia]: someBytes } };
  // Client generators do not support `*/*`; octets may have any type.
  if (route.body === 'stream')
    return { required: true, content: { 'application/octet-stream': someBytes, '*/*': someBytes } };
  // A document that the handler checks itself is required: its absence is a fault.
  const isOptional = !(route.body instanceof z.ZodUnknown) && route.body.safeParse(undefined).success;
  return { required: !isOptional, content: { 'application/json': jsonContent(route.body) } };
}

function jsonContent(schema: z.ZodType) {
  const example = exampleOf(schema);
  return { schema, ...(example === undefined ? {} : { example }) };
}

/** Readers that know these types parse them, so that a schema would be one of what they make of them. */
const parsedMedia: readonly string[] = ['application/yaml', 'text/event-stream'];

function bytesContent(media: readonly string[], example: string) {
  const schemaOf = (type: string) => (parsedMedia.includes(type) ? {} : someBytes.schema);
  return Object.fromEntries(media.map((type) => [type, { schema: schemaOf(type), example }]));
}

function response(spec: ResponseSpec): ZodOpenApiResponseObject {
  const schema = spec.items === undefined ? spec.schema : z.array(spec.items);
  const json = schema && { 'application/json': jsonContent(schema) };
  const bytes = spec.media && bytesContent([spec.media].flat(), spec.example ?? someBytes.example);
  // JSON that is made once is sent as bytes, and has its schema nevertheless.
  const content = json || bytes ? { ...json, ...bytes, ...json } : undefined;
  const headers = Object.entries(spec.headers ?? {}).map(
    ([name, description]) =>
      [headerName(name), { description, schema: { type: 'string' } as const }] as const,
  );
  return {
    description: spec.description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...Object.fromEntries(headers) },
    ...(content === undefined ? {} : { content }),
  };
}

/** Gives the parameters of a route their examples, and headers their usual spelling. */
function finishParameters(document: OpenApiDocument, route: Route): void {
  const parts = new Map(
    Object.entries({ path: route.params, query: route.query, header: route.headers }).map(
      ([place, schema]) => [place, schema === undefined ? {} : parametersOf(schema).shape] as const,
    ),
  );
  const parameters = [route.path, ...(route.aliases ?? [])].flatMap((path) => {
    const item = document.paths?.[plainPath(path)] as Record<string, ZodOpenApiOperationObject>;
    return item[route.method.toLowerCase()]?.parameters ?? [];
  });
  for (const parameter of parameters) {
    const part = 'in' in parameter ? parts.get(parameter.in)?.[parameter.name] : undefined;
    if (!('in' in parameter) || part === undefined) continue;
    const example = exampleOf(part);
    if (example !== undefined) parameter.example = example;
    if (parameter.in === 'header') parameter.name = headerName(parameter.name);
    // Readers of the document expect it in one place.
    delete (parameter.schema as { examples?: unknown } | undefined)?.examples;
  }
}
