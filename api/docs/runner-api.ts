/** The contract of the runner routes on its own, for authors of runners (contract: Versioning 4; decisions 1). */
import { stringify } from 'yaml';
import { tokenPrefixes } from '../../domain/access/token-format.ts';
import { limits } from '../../domain/limits.ts';
import type { OpenApiDocument } from '../../http/openapi/openapi.ts';

type Json = { readonly [key: string]: unknown };

const prefix = '/api/v2/runner/';

const info = {
  title: 'Simulation Data Platform: runner interface',
  version: '1',
  description: [
    'A runner claims tasks for node templates, reads inputs, writes outputs and reports the outcome of each task.',
    `Callers: \`Authorization: Bearer <token>\` with a runner token (\`${tokenPrefixes.runner}...\`) or, for development, the ` +
      'access token of an Administrator or Developer. A missing, invalid, expired or revoked token is 401.',
    'A task belongs to the token and the `instanceId` that claimed it. Every call for it sends this id in ' +
      '`X-Platform-Runner-Instance`; other callers get 404 `task_not_found`, and so does the holder after its lease ends. A lease ' +
      `lasts ${limits.leaseSeconds} seconds unless the node template sets another time. Every call for the task renews it, and ` +
      'so does a transfer while it runs.',
    'JSON bodies: UTF-8, not compressed, at most 1 MB and ' +
      `${limits.jsonDepthLevels} levels, no key twice in one object. Unknown fields are ignored. Runners must ignore them too: a response may ` +
      'gain fields within a version. Sizes in KB and MB are powers of 1,024.',
    'Errors: `{ "status": "error", "code": "...", "message": "..." }`. Codes are stable; messages may change.',
  ].join('\n\n'),
} as const;

/** The routes below `/api/v2/runner`, and only the components that they refer to. */
function runnerApiDocument(reference: OpenApiDocument): OpenApiDocument {
  const paths = Object.fromEntries(
    Object.entries(reference.paths ?? {}).filter(([path]) => path.startsWith(prefix)),
  );
  const operations = Object.values(paths).flatMap((item) => Object.values(item as Json) as Json[]);
  const tags = new Set(operations.flatMap((operation) => operation.tags as string[]));
  const schemes = new Set(operations.flatMap(({ security }) => (security as Json[]).flatMap(Object.keys)));
  const components = (reference.components ?? {}) as unknown as Record<string, Json>;
  return {
    ...reference,
    info,
    tags: (reference.tags ?? []).filter(({ name }) => tags.has(name)),
    paths,
    components: {
      ...referred(paths, components),
      securitySchemes: only(components.securitySchemes ?? {}, schemes),
    },
  } as unknown as OpenApiDocument;
}

/** The components that a value refers to, and those that these refer to in turn. */
function referred(value: unknown, components: Readonly<Record<string, Json>>): Record<string, Json> {
  const found = new Set<string>();
  const collect = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [key, below] of Object.entries(part)) {
      if (key !== '$ref' || typeof below !== 'string') collect(below);
      else if (!found.has(below)) {
        found.add(below);
        const [, , kind = '', name = ''] = below.split('/');
        collect(components[kind]?.[name]);
      }
    }
  };
  collect(value);
  const kinds = Object.entries(components).map(([kind, all]) => {
    const names = new Set(Object.keys(all).filter((name) => found.has(`#/components/${kind}/${name}`)));
    return [kind, only(all, names)] as const;
  });
  return Object.fromEntries(kinds.filter(([, kept]) => Object.keys(kept).length > 0));
}

function only(all: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
}

const opening = `# The runner interface of the Simulation Data Platform, generated from its routes.
# Do not edit: \`npm run generate:runner-api\` regenerates it.
`;

/** The file, as it is served and published. YAML 1.1 parsers read it the same way. */
export function runnerApiYaml(reference: OpenApiDocument): string {
  const options = { lineWidth: 110, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;
  return opening + stringify(runnerApiDocument(reference), options);
}
