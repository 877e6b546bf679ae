/** The interface document as TypeScript: what `client/types.ts` holds. */
import { Problem } from '../../domain/errors.ts';
import { interfaceDocument, type Json, operationsOf } from '../support/openapi.ts';

const width = 110;
const keyParameter = '#/components/parameters/IdempotencyKey';
/** Names that mean something else in TypeScript. */
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorBody' };

const opening = `/**
 * Requests and replies of the platform, made from its OpenAPI document. Do not edit: \`npm run generate:client\` writes
 * this file anew. Times are ISO 8601 in UTC. A reply may gain fields within a version of the interface.
 */
`;

/** The whole file. */
export function clientTypes(): string {
  const document = interfaceDocument();
  const schemas = Object.entries((document.components as Json).schemas as Json) as [string, Json][];
  return [opening, ...schemas.map(([name, schema]) => declaration(name, schema)), routesOf(document)].join(
    '\n',
  );
}

const creatingOpening = `/**
 * The routes that create and accept \`Idempotency-Key\`, made from the platform's OpenAPI document. Do not edit:
 * \`npm run generate:client\` writes this file anew.
 */
`;

/** Called by runners alone, by their kits: the console's script is to stay small. */
const ofTasks = '/api/v2/runner/tasks/';

/** The whole file of the routes that create. */
export function creatingRoutesFile(): string {
  const names = operationsOf(interfaceDocument()).flatMap(({ method, path, value }) => {
    if (path.startsWith(ofTasks)) return [];
    const parameters = (value.parameters ?? []) as { readonly $ref?: string }[];
    return parameters.some(({ $ref }) => $ref === keyParameter) ? [`${method} ${path}`] : [];
  });
  return `${creatingOpening}export const creatingRoutes = [
${names.map((name) => `  '${name}',\n`).join('')}] as const;
export type CreatingRoute = (typeof creatingRoutes)[number];
`;
}

const messagesOpening = `/**
 * Refusals that clients recognise by their text, since most routes send no code; made from the platform's catalogue of
 * errors. Do not edit: \`npm run generate:client\` writes this file anew.
 */
`;

/** The whole file of the texts of refusals. */
export function messagesFile(): string {
  return `${messagesOpening}
/** The token is missing, has expired, was revoked, or is not complete. */
export const refusedTokenMessage = '${new Problem('unauthorized').message}';

/** The refusal of a repeat whose first answer showed a secret once. */
export const spentKeyMessage =
  '${new Problem('idempotencyKeySpent').message}';
`;
}

function declaration(name: string, schema: Json): string {
  const type = typeOf(schema, 0);
  const head = comment(schema.description, 0);
  const own = typeName(name);
  return isOneObject(type)
    ? `${head}export interface ${own} ${type}\n`
    : `${head}export type ${own} = ${type};\n`;
}

function routesOf(document: Json): string {
  const routes = operationsOf(document).map(({ method, path, value }) => {
    const parts = [queryOf(value), bodyOf(value), `reply: ${replyOf(value)};`].filter((part) => part !== '');
    const line = `  '${method} ${path}': { ${parts.join(' ').replace(/;$/, '')} };\n`;
    if (line.length <= width && !line.slice(0, -1).includes('\n')) return line;
    return `  '${method} ${path}': {\n${parts.map((part) => `    ${part}\n`).join('')}  };\n`;
  });
  const head = '/** Each route with what it takes and what it answers. `Response`: bytes, not JSON. */';
  return `${head}\nexport interface Routes {\n${routes.join('')}}\n`;
}

function queryOf(operation: Json): string {
  const parameters = ((operation.parameters ?? []) as Json[]).filter((parameter) => parameter.in === 'query');
  if (parameters.length === 0) return '';
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...(schema as Json), description }]),
  );
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name);
  const type = objectType({ properties, required }, 2);
  return `query${required.length === 0 ? '?' : ''}: ${type};`;
}

function bodyOf(operation: Json): string {
  const { content, required } = (operation.requestBody ?? {}) as { content?: Json; required?: boolean };
  const json = content?.['application/json'] as { schema: Json } | undefined;
  return json === undefined ? '' : `body${required === true ? '' : '?'}: ${typeOf(json.schema, 2)};`;
}

function replyOf({ responses }: Json): string {
  const good = Object.entries(responses as Json).filter(([status]) => status.startsWith('2'));
  const types = good.flatMap(([, value]) => {
    const content = (value as { content?: Json }).content;
    if (content === undefined) return ['undefined'];
    return Object.entries(content as Record<string, { schema: Json }>).map(([media, { schema }]) =>
      media === 'application/json' ? typeOf(schema, 2) : 'Response',
    );
  });
  return [...new Set(types)].join(' | ');
}

/** A schema as a type; `depth` is that of the line on which it begins. */
function typeOf(schema: Json, depth: number): string {
  if (typeof schema.$ref === 'string') return typeName(schema.$ref.split('/').at(-1)!);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (choices !== undefined) return union(choices.map((choice) => typeOf(choice, depth)));
  if ('not' in schema) return 'never';
  if (Array.isArray(schema.type))
    return union(schema.type.map((type: string) => typeOf({ ...schema, type }, depth)));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly ${element(typeOf((schema.items ?? {}) as Json, depth))}[]`;
    case 'object':
      return objectType(schema, depth);
    case undefined:
      return 'unknown';
  }
  throw new Error(`A schema of this kind has no type yet: ${JSON.stringify(schema)}`);
}

function objectType({ properties, required, additionalProperties }: Json, depth: number): string {
  if (properties === undefined)
    return `Readonly<Record<string, ${recordValue(additionalProperties, depth)}>>`;
  const needed = (required ?? []) as unknown[];
  const lines = Object.entries(properties as Record<string, Json>).map(([name, schema]) => {
    const type = typeOf(schema, depth + 1);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
    const property = needed.includes(name) ? `${key}: ${type}` : `${key}?: ${type} | undefined`;
    return `${comment(schema.description, depth + 1)}${indent(depth + 1)}readonly ${property};\n`;
  });
  return `{\n${lines.join('')}${indent(depth)}}`;
}

const recordValue = (schema: unknown, depth: number) =>
  typeof schema === 'object' && schema !== null ? typeOf(schema as Json, depth) : 'unknown';

const typeName = (name: string) => renamed[name] ?? name;
const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
const union = (types: readonly string[]) => [...new Set(types)].join(' | ');
const isOneObject = (type: string) => type.startsWith('{') && type.endsWith('}') && !type.includes('} | {');
const element = (type: string) => (/ \| |^readonly /.test(type) && !isOneObject(type) ? `(${type})` : type);
const indent = (depth: number) => '  '.repeat(depth);

/** A comment in lines that fit. */
function comment(text: unknown, depth: number): string {
  if (typeof text !== 'string') return '';
  const edge = indent(depth);
  const line = `${edge}/** ${text} */\n`;
  if (!text.includes('\n') && line.length <= width) return line;
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    if (edge.length + 3 + lines.at(-1)!.length + word.length > width) lines.push('');
    lines[lines.length - 1] += lines.at(-1) === '' ? word : ` ${word}`;
  }
  return `${edge}/**\n${lines.map((each) => `${edge} * ${each}\n`).join('')}${edge} */\n`;
}
