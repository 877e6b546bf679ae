/** The log of a run, followed while it comes. */
import type { ApiClient, Query } from './api-client.ts';
import { type EventsSettings, streamEvents } from './event-stream.ts';
import type { RunLogEntry } from './types.ts';

const route = 'GET /api/v2/node-runs/{runId}/logs';
export type LogFilter = Pick<Query<typeof route>, 'attempt' | 'level' | 'search'>;

/** A line of the log, or the end of the run. */
export type RunLogEvent =
  | { readonly kind: 'entry'; readonly data: RunLogEntry }
  | { readonly kind: 'end'; readonly data: object };

/**
 * The events of one connection, until it ends. The id of a line is its position.
 * @throws ApiError when the platform refuses; NetworkError when the connection breaks, ends, or is silent
 */
export async function* runLogEvents(
  client: ApiClient,
  runId: string,
  filter: LogFilter,
  settings: EventsSettings,
): AsyncGenerator<RunLogEvent & { readonly id: string | null }> {
  const events = streamEvents(
    (request) => client.open(route, { params: { runId }, query: filter, ...request }),
    settings,
  );
  for await (const { kind, data, id } of events) {
    yield { kind, data: JSON.parse(data), id } as RunLogEvent & { readonly id: string | null };
  }
}
