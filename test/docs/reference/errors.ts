/** docs/reference/errors.md: the catalogue of all error responses of the platform. */
import { STATUS_CODES } from 'node:http';
import { routes } from '../../../api/routes.ts';
import { type CatalogueEntry, catalogue } from '../../../domain/errors.ts';
import { problemsOf } from '../../../http/response-check.ts';
import { code, generated, table } from './table.ts';

/** The caller's reaction to a status. */
const advice: Readonly<Record<number, string>> = {
  400: 'The request is invalid. Correct it; a repeat gets the same error.',
  401: 'Get a valid token: sign in again, refresh, or ask the creator of the offline or runner token.',
  403: 'The token is valid, but not allowed to do this. Use another token, or ask for the role.',
  404: 'The resource does not exist, or this caller may not see it. An id of the wrong form is 404 too.',
  405: 'The path does not support the method; `Allow` lists the supported ones.',
  408: 'The headers did not arrive within a minute, or the body was slower than 1 KB per second. Retry.',
  409: 'The request conflicts with the stored state. Read the state first.',
  412: 'Another change came between, or `Tus-Resumable` is missing. Read the state, then send again.',
  413: 'Send less; a runner sends a larger output as a multi-part upload.',
  415: 'Send a type that the route accepts. JSON must be UTF-8 and not compressed.',
  416: 'Request a range within the size; `Content-Range` has the size.',
  422: 'Use a new key for each new request; a repeat must be the same request.',
  423: 'Another request of this upload is ending. Wait for the seconds in `Retry-After`, ask with HEAD how far it is, continue.',
  429: 'Wait for the seconds in `Retry-After`. Without it the caller has too many unfinished uploads: end some first.',
  431: 'Send fewer or shorter headers, or a shorter address.',
  460: 'Send the same piece again.',
  500: 'A fault of the platform. Retry later; the log has the details under the `X-Request-Id`.',
  502: 'A service behind the platform failed. Retry later.',
  503: 'Temporarily unavailable. Retry, after `Retry-After` if it is sent.',
};

/** Statuses that Node does not name. */
const names: Readonly<Record<number, string>> = { 460: 'Checksum Mismatch (tus)' };

/** Paths below `/runner/` answer the first two themselves, without a route. */
function sentByRunnerRoutes(): ReadonlySet<string> {
  const coded = routes.filter(({ errorStyle }) => errorStyle === 'coded');
  return new Set(['notFound', 'methodNotAllowed', ...coded.flatMap(problemsOf)]);
}

export function errorsPage(): string {
  const ofRunnerRoutes = sentByRunnerRoutes();
  const entries = Object.entries<CatalogueEntry>(catalogue).map(([key, entry]) => ({
    ...entry,
    codes: ofRunnerRoutes.has(key) ? [entry.code] : [],
  }));
  const statuses = [...new Set(entries.map(({ status }) => status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const messages = new Map<string, Set<string>>();
    for (const entry of entries.filter((one) => one.status === status))
      messages.set(entry.message, new Set([...(messages.get(entry.message) ?? []), ...entry.codes]));
    const rows = [...messages].map(([message, codes]) => [message, [...codes].map(code).join(', ')]);
    const head = table(['Message', 'Code on runner routes'], rows);
    const name = STATUS_CODES[status] ?? names[status];
    if (name === undefined || advice[status] === undefined)
      throw new Error(`No name or advice for ${status}.`);
    return `## ${status}\n\n**${name}.** ${advice[status]}\n\n${head}\n`;
  });
  return `${generated}
# Errors

Every error has the body \`{ "status": "error", "message": "..." }\`; runner routes add a stable \`code\` (the column is empty where
no runner route sends the message), some routes more fields, described in the reference, such as a list of faults with their JSON
paths. Programs should use status and code: they are stable within a version. Messages are for people and may include names
(\`Data source 'x' not found.\`). Errors outside this list are never sent: an unexpected failure is 500
\`Internal server error.\`, without internal details.

${sections.join('\n')}`;
}
