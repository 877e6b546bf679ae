/** docs/reference/errors.md: the catalogue of everything that the platform answers when it refuses. */
import { STATUS_CODES } from 'node:http';
import { type CatalogueEntry, catalogue } from '../../../domain/errors.ts';
import { code, generated, table } from './table.ts';

/** What a caller does about a status. */
const advice: Readonly<Record<number, string>> = {
  400: 'The request is wrong as it stands: correct it; a repeat gets the same.',
  401: 'Get a valid token: sign in again, refresh, or ask whoever made the offline or runner token.',
  403: 'The token is valid and does not reach so far: use another, or ask for the role.',
  404: 'It is not there, or not for this caller. Ids of a wrong form are missing too.',
  405: 'The path is known, the method is not; `Allow` names those that are.',
  408: 'Headers did not come within a minute, or a body came at less than 1 KB a second: repeat.',
  409: 'It conflicts with what is stored: look at it first.',
  413: 'Send less; outputs of runners above the size for one request go in parts.',
  422: 'Make a new key for each thing that is to be made; a repeat has to be the same request.',
  415: 'Send the type that the route takes; JSON is not to be compressed, and is UTF-8.',
  416: 'Ask for a range within the bytes; `Content-Range` tells how many there are.',
  429: 'Wait as many seconds as `Retry-After` says.',
  431: 'Send fewer and shorter headers, or a shorter address.',
  500: 'A fault of ours, or of what we stand on: repeat later; the log has it under the `X-Request-Id`.',
  502: 'Something behind the platform failed: repeat later.',
  503: 'Not able right now: repeat, after `Retry-After` where it is sent.',
};

export function errorsPage(): string {
  const entries = Object.values(catalogue) as readonly CatalogueEntry[];
  const statuses = [...new Set(entries.map(({ status }) => status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const messages = new Map<string, Set<string>>();
    for (const entry of entries.filter((one) => one.status === status))
      messages.set(entry.message, (messages.get(entry.message) ?? new Set()).add(entry.code));
    const rows = [...messages].map(([message, codes]) => [message, [...codes].map(code).join(', ')]);
    const head = table(['Message', 'Code on runner routes'], rows);
    return `## ${status}\n\n**${STATUS_CODES[status]}.** ${advice[status] ?? ''}\n\n${head}\n`;
  });
  return `${generated}
# Errors

Every refusal has the body \`{ "status": "error", "message": "..." }\`; runner routes add a stable \`code\`, some routes
further fields that the reference describes, such as a list of faults with their JSON paths. Go by status and code: they
are stable within a version; messages are for people, and may name things (\`Data source 'x' not found.\`). What is not in
this list is not sent: anything unexpected is 500 \`Internal server error.\`, with nothing of the inside in it.

${sections.join('\n')}`;
}
