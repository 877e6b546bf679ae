/** The log of a run: its lines so far, or as they come, and how they are shown. */
import { styleText } from 'node:util';
import { type LogFilter, type RunLogEvent, runLogEvents } from '../../client/run-log.ts';
import type { RunLogEntry, RunLogPage } from '../../client/types.ts';
import { follow } from '../follow.ts';
import { singleLine, time } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';

const route = 'GET /api/v2/node-runs/{runId}/logs';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;

/** The lines until the run ends. */
export async function* followLog(
  platform: PlatformClient,
  runId: string,
  filter: LogFilter,
): AsyncGenerator<RunLogEntry> {
  const events = follow<RunLogEvent>((settings) => runLogEvents(platform, runId, filter, settings), 'end');
  for await (const event of events) if (event.kind === 'entry') yield event.data;
}

/** The lines so far. */
export async function* readLog(
  platform: PlatformClient,
  runId: string,
  filter: LogFilter,
): AsyncGenerator<RunLogEntry> {
  const readPage = async (query: LogFilter & { readonly after: number; readonly limit?: number }) =>
    (await platform.call(route, { params: { runId }, query })) as RunLogPage;
  for (let after = 0; ; ) {
    const page = await readPage({ ...filter, after });
    yield* page.entries;
    if (page.complete) return;
    after = page.next;
    if (page.entries.length > 0) continue;
    // A page without a match may be followed by more lines; of an open run it may be the end.
    const rest = await readPage({ after, limit: 1 });
    if (rest.entries.length === 0 && !rest.complete) return;
  }
}

/** Time, attempt, level and message; further lines of a message stand below it, its fields behind it. */
export function logLine({ at, attempt, level, source, message, fields }: RunLogEntry): string {
  const lines = message.split(/\r\n|\n/).map((line) => singleLine(line.replaceAll('\t', '    ')));
  // The platform's lines say in words what their fields hold.
  const isSaid = source === 'platform' || fields === null || Object.keys(fields).length === 0;
  const more = isSaid ? '' : `  ${JSON.stringify(fields)}`;
  const shown = `${time(at)}  ${attempt}  ${level.padEnd(7)}  ${lines.join('\n    ')}${singleLine(more)}`;
  const style = styleOf(level, source);
  return style === undefined ? shown : styleText(style, shown, { stream: process.stdout });
}

function styleOf(level: RunLogEntry['level'], source: RunLogEntry['source']) {
  if (level === 'error') return 'red';
  if (level === 'warning') return 'yellow';
  if (source === 'platform') return 'cyan';
  return level === 'debug' ? 'gray' : undefined;
}
