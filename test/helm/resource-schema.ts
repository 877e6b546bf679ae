/** JSON schemas of Kubernetes' resources, from its OpenAPI document: as strict as the server that takes them. */

interface Schema {
  readonly [name: string]: unknown;
}
interface Definition extends Schema {
  readonly 'x-kubernetes-group-version-kind'?: ReadonlyArray<{
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }>;
}
export interface OpenApi {
  readonly definitions: Readonly<Record<string, Definition>>;
}

/** @returns undefined for a resource that the document does not know */
export function resourceSchema(document: OpenApi, apiVersion: string, kind: string): Schema | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const found = Object.entries(document.definitions).find(([, definition]) =>
    definition['x-kubernetes-group-version-kind']?.some(
      (known) => known.group === group && known.version === version && known.kind === kind,
    ),
  );
  if (found === undefined) return undefined;
  const definitions: Record<string, unknown> = {};
  const include = (name: string) => {
    if (name in definitions) return;
    definitions[name] = {};
    definitions[name] = strict(document.definitions[name]!, include);
  };
  include(found[0]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    // Kubernetes' document lets these be anything; both are required of what is sent.
    required: ['apiVersion', 'kind'],
    allOf: [{ $ref: `#/definitions/${found[0]}` }],
    definitions,
  };
}

/** A schema that refuses fields that it does not name, takes numbers for texts that may be both, and null nowhere. */
function strict(schema: unknown, include: (name: string) => void): unknown {
  if (Array.isArray(schema)) return schema.map((item) => strict(item, include));
  if (typeof schema !== 'object' || schema === null) return schema;
  const given = schema as Schema;
  if (given.format === 'int-or-string') return { type: ['string', 'integer'] };
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    // Texts, which say `type` and `properties` as names of fields too.
    if (name === 'description' || name.startsWith('x-kubernetes')) continue;
    if (name === '$ref') include(String(value).replace('#/definitions/', ''));
    if (name === 'properties') {
      const fields = Object.entries(value as Schema);
      own[name] = Object.fromEntries(fields.map(([field, inner]) => [field, strict(inner, include)]));
    } else own[name] = strict(value, include);
  }
  if (given.properties !== undefined && given.additionalProperties === undefined)
    own.additionalProperties = false;
  return own;
}
