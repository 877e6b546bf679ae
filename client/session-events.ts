/** The live events of a session. */
import type { ApiClient } from './api-client.ts';
import { type EventsSettings, streamEvents } from './event-stream.ts';
import type {
  NodeInstanceProgress,
  SessionAttemptEvent,
  SessionOutputEvent,
  SessionWindowEvent,
} from './types.ts';

/** The events of a session. Newer platforms may send more kinds. */
export type SessionEvent =
  | { readonly kind: 'node'; readonly data: NodeInstanceProgress }
  | { readonly kind: 'output'; readonly data: SessionOutputEvent }
  | { readonly kind: 'attempt'; readonly data: SessionAttemptEvent }
  | { readonly kind: 'window'; readonly data: SessionWindowEvent }
  | { readonly kind: 'deleted'; readonly data: { readonly sessionId: string } };

/**
 * The events of one connection, until it ends. Those that belong together carry their id with the last of them.
 * @throws ApiError when the platform refuses; NetworkError when the connection breaks, ends, or is silent
 */
export async function* sessionEvents(
  client: ApiClient,
  sessionId: string,
  settings: EventsSettings,
): AsyncGenerator<SessionEvent & { readonly id: string | null }> {
  const params = { id: sessionId };
  const events = streamEvents(
    (request) => client.open('GET /api/v2/sessions/{id}/events', { params, ...request }),
    settings,
  );
  for await (const { kind, data, id } of events) {
    yield { kind, data: JSON.parse(data), id } as SessionEvent & { readonly id: string | null };
  }
}
