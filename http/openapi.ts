/** The OpenAPI 3.1 document of a list of routes: derived from the very schemas that validate, kept by nobody. */
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { type CatalogueEntry, catalogue } from '../domain/errors.ts';
import { codedErrorSchema, errorSchema } from './errors.ts';
import { allPaths } from './paths.ts';
import { problemsOf } from './response-check.ts';
import type { ResponseSpec, Route } from './route.ts';

export type DocumentInfo = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Shown in the order given; tags of routes that are not among them follow. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** Describes every route that is not hidden, once, under the path that the contract lists. */
export function openApiDocument(routes: readonly Route[], info: DocumentInfo): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    if (route.hidden) continue;
    const path = route.path.replaceAll('+}', '}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route);
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: { title: info.title, version: info.version, description: info.description },
      tags: info.tags.map((tag) => ({ ...tag })),
      paths: paths as ZodOpenApiPathsObject,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A token of the platform.' },
        },
      },
    },
    { override: ({ jsonSchema }) => tidy(jsonSchema as Record<string, unknown>) },
  );
}

/**
 * What zod knows and readers need not: integers in paths and queries arrive as text, integers fit in a double, and
 * our replies may gain fields within a version.
 */
function tidy(schema: Record<string, unknown>): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.type !== 'integer' && schema.type !== 'boolean') return;
  delete schema.pattern;
  delete schema.enum;
  if (typeof schema.default === 'string') schema.default = JSON.parse(schema.default);
}

function operation(route: Route): ZodOpenApiOperationObject {
  const body = requestBody(route);
  return {
    operationId: route.id,
    summary: route.summary,
    description: describe(route),
    tags: [...route.tags],
    security: route.access.open ? [] : [{ bearer: [] }],
    requestParams: {
      ...(route.params === undefined ? {} : { path: asObject(route.params) }),
      ...(route.query === undefined ? {} : { query: asObject(route.query) }),
      ...(route.headers === undefined ? {} : { header: asObject(route.headers) }),
    },
    ...(body === null ? {} : { requestBody: body }),
    responses: responses(route),
  };
}

function describe(route: Route): string {
  const lines = route.description === undefined ? [] : [route.description];
  const others = allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned').slice(1);
  if (others.length > 0) lines.push(`Also at ${others.map((path) => `\`${path}\``).join(', ')}.`);
  if (!route.access.open) {
    const { tokens, roles, scope } = route.access;
    lines.push(`Tokens: ${tokens.join(', ')}. Roles: ${roles.join(', ')}.`);
    if (scope !== undefined) lines.push(`Runner tokens need the scope \`${scope}\`.`);
  }
  if (route.bodyNames === 'PascalCase') lines.push('Field names are accepted in camelCase, too.');
  return lines.join('\n\n');
}

function requestBody(route: Route): NonNullable<ZodOpenApiOperationObject['requestBody']> | null {
  if (route.body === undefined) return null;
  if (route.body === 'stream') {
    const bytes = { schema: { type: 'string', format: 'binary' } } as const;
    return { required: true, content: { '*/*': bytes } };
  }
  const isOptional = route.body.safeParse(undefined).success;
  return { required: !isOptional, content: { 'application/json': { schema: route.body } } };
}

function responses(route: Route): Record<`${number}`, ZodOpenApiResponseObject> {
  const described: Record<`${number}`, ZodOpenApiResponseObject> = {};
  for (const [status, spec] of Object.entries(route.responses)) {
    described[status as `${number}`] = response(spec);
  }
  const texts = new Map<number, Set<string>>();
  for (const key of problemsOf(route)) {
    const { status, message, code }: CatalogueEntry = catalogue[key];
    const text = route.errorStyle === 'coded' ? `\`${code}\`: ${message}` : message;
    texts.set(status, (texts.get(status) ?? new Set()).add(text));
  }
  const schema = route.errorStyle === 'coded' ? codedErrorSchema : errorSchema;
  for (const [status, messages] of [...texts].sort(([one], [other]) => one - other)) {
    described[`${status}`] ??= {
      description: [...messages].join(' · '),
      content: { 'application/json': { schema } },
    };
  }
  return described;
}

function response(spec: ResponseSpec): ZodOpenApiResponseObject {
  const content =
    spec.schema !== undefined
      ? { 'application/json': { schema: spec.schema } }
      : spec.media !== undefined
        ? { [spec.media]: { schema: { type: 'string', format: 'binary' } as const } }
        : undefined;
  const headers = Object.entries(spec.headers ?? {}).map(
    ([name, description]) => [name, { description, schema: { type: 'string' } as const }] as const,
  );
  return {
    description: spec.description,
    ...(content === undefined ? {} : { content }),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}

/** Schemas of parameters are objects, some with checks across fields. */
function asObject(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return asObject(schema.in as z.ZodType);
  throw new Error('Parameters need an object schema.');
}
