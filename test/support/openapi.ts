/** The platform's interface document for tests: its operations, and values checked against its schemas. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { documentInfo } from '../../api/docs/info.ts';
import { routes as platformRoutes } from '../../api/routes.ts';
import { authRoutes } from '../../auth/service.ts';
import { openApiDocument } from '../../http/openapi/openapi.ts';
import type { Route } from '../../http/route.ts';

export type Json = { readonly [key: string]: unknown };
export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** JSON pointer of the operation in the document. */
  readonly at: string;
  readonly value: Json;
};

/** All routes of the platform and of the authentication service, as one server answers them. */
export const allRoutes: readonly Route[] = [...platformRoutes, ...authRoutes];

/** A copy of the document as it goes over the wire. */
export function interfaceDocument(): Json {
  return JSON.parse(JSON.stringify(openApiDocument(allRoutes, documentInfo))) as Json;
}

const step = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
/** JSON pointer from keys. */
export const pointer = (...keys: readonly string[]) => keys.map((key) => `/${step(key)}`).join('');

/** Every operation once; earlier forms of paths are left out. */
export function operationsOf(document: Json): Operation[] {
  return allOperationsOf(document).filter(({ value }) => value.deprecated !== true);
}

export function allOperationsOf(document: Json): Operation[] {
  return Object.entries(document.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({
      id: String((value as Json).operationId),
      method: method.toUpperCase(),
      path,
      at: pointer('paths', path, method),
      value: value as Json,
    })),
  );
}

/** The value at a JSON pointer; undefined if there is none. */
export function lookUp(document: Json, at: string): unknown {
  return at
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document);
}

/** Faults of the document by the OpenAPI 3.1 schema, and invalid JSON Schemas in it; empty when there are none. */
export function formalFaults(document: Json): unknown[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  // Its only dynamic reference leads to its own definition; ajv follows it elsewhere.
  const authors = readFileSync(new URL('openapi-3.1.schema.json', import.meta.url), 'utf8').replaceAll(
    '"$dynamicRef": "#meta"',
    '"$ref": "#/$defs/schema"',
  );
  const validate = ajv.compile(JSON.parse(authors));
  if (!validate(document)) return validate.errors ?? ['no reason'];
  const checker = checkerOf(document, { closed: false });
  const schemas = Object.entries((document.components as Json).schemas as Json);
  return schemas.flatMap(([name, schema]) => {
    // Compiles the schema; whether the value passes does not matter.
    checker.fault(`/components/schemas/${name}`, null);
    return ajv.validateSchema(schema as object) ? [] : [name];
  });
}

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': (text: string) =>
    !Number.isNaN(Date.parse(text)) && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text),
  uri: (text: string) => URL.canParse(text),
  binary: true,
  double: true,
  int64: true,
} as const;

export type Checker = {
  /** The faults of a value by the schema at a JSON pointer of the document; null when there are none. */
  fault(at: string, value: unknown): string | null;
};

/** @param options.closed true: fields that a schema does not name are faults, too */
export function checkerOf(document: Json, options: { readonly closed: boolean }): Checker {
  const root = options.closed ? (closed(document) as Json) : document;
  const ajv = new Ajv2020({ strict: false, allErrors: false, formats });
  ajv.addSchema({ ...root, $id: 'interface' });
  const compiled = new Map<string, ValidateFunction>();
  return {
    fault(place, value) {
      const named = (lookUp(root, place) as Json | undefined)?.$ref;
      const at = typeof named === 'string' ? named.slice(1) : place;
      const validate = compiled.get(at) ?? ajv.compile({ $ref: `interface#${encodeURI(at)}` });
      compiled.set(at, validate);
      return validate(value) ? null : `${place}: ${ajv.errorsText(validate.errors)}`;
    },
  };
}

/** A copy in which every object schema that names its fields accepts no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]));
  const isObjectSchema = copy.type === 'object' && typeof copy.properties === 'object';
  return isObjectSchema && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
