/** docs/reference/api.md: every route by subject, from the same document that the platform serves. */
import { documentInfo } from '../../../api/docs/info.ts';
import { routes } from '../../../api/routes.ts';
import { authRoutes } from '../../../auth/service.ts';
import { openApiDocument } from '../../../http/openapi/openapi.ts';
import { code, generated, table } from './table.ts';

type Json = { readonly [key: string]: unknown };
interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses: Json;
  readonly deprecated?: boolean;
}

const kinds: Readonly<Record<string, string>> = {
  accessToken: 'access',
  offlineToken: 'offline',
  runnerToken: 'runner',
  ingestSecret: 'ingest secret',
  ingestToken: 'ingest secret',
  serviceKey: 'service key',
};

export function apiPage(): string {
  const all = [...routes, ...authRoutes];
  const document = openApiDocument(all, documentInfo);
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, value]) => ({ path, method, value: value as Operation })),
  );
  const once = operations.filter(({ value }) => value.deprecated !== true);
  const statuses = operations.map(({ value }) => Object.keys(value.responses));
  const everywhere = (statuses[0] ?? []).filter((status) => statuses.every((list) => list.includes(status)));
  const sections = (document.tags ?? []).map(({ name, description }) => {
    const rows = operations
      .filter(({ value }) => value.tags[0] === name)
      .map(({ path, method, value }) => [
        code(`${method.toUpperCase()} ${path}`),
        value.summary,
        callersOf(value),
        Object.keys(value.responses)
          .filter((status) => !everywhere.includes(status))
          .join(' '),
      ]);
    return `## ${name}\n\n${description}\n\n${table(['Route', 'What it does', 'Callers', 'Answers'], rows)}\n`;
  });
  const { description = '' } = document.info;
  return `${generated}
# Routes

The routes of the platform and its authentication service, ${once.length} of them, and \`GET /metrics\`: [metrics](metrics.md).
Bodies, fields, examples and errors are documented by the platform itself: \`/docs\` to browse, \`/api/v2/openapi.json\` for
programs, and \`/api/v2/runner/runner-api.v1.yaml\` ([the same file](../../sdk/runner-api.v1.yaml)) for runners only. Besides the
statuses listed here, every route may answer ${everywhere.join(', ')}: see [errors](errors.md).

${description}

${sections.join('\n')}`;
}

/** Kinds of token, and the roles when they are not all. */
function callersOf({ security }: Operation): string {
  const schemes = (security ?? []).flatMap((one) => Object.entries(one));
  if (schemes.length === 0) return 'everyone';
  const isOptional = security!.some((one) => Object.keys(one).length === 0);
  const names = [...new Set(schemes.map(([name]) => kinds[name] ?? name))].join(', ');
  const tokens = isOptional ? `${names}, or none where the ingest allows it` : names;
  const roles = schemes.find(([, list]) => list.length > 0)?.[1] ?? [];
  return roles.length === 0 || roles.length === 4 ? tokens : `${tokens}: ${roles.join(', ')}`;
}
