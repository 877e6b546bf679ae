/** The live events of a session: server-sent events over fetch, which unlike EventSource can carry a bearer token. */
import { createParser } from 'eventsource-parser';
import type { ApiClient } from './api-client.ts';
import { NetworkError } from './errors.ts';
import type {
  NodeInstanceProgress,
  SessionAttemptEvent,
  SessionOutputEvent,
  SessionWindowEvent,
} from './types.ts';

/** Far above the longest event; a server that sends a longer one is not the platform. */
const longestEventCharacters = 16 * 1024 * 1024;

/** The events of a session. Newer platforms may send more kinds. */
export type SessionEvent =
  | { readonly kind: 'node'; readonly data: NodeInstanceProgress }
  | { readonly kind: 'output'; readonly data: SessionOutputEvent }
  | { readonly kind: 'attempt'; readonly data: SessionAttemptEvent }
  | { readonly kind: 'window'; readonly data: SessionWindowEvent }
  | { readonly kind: 'deleted'; readonly data: { readonly sessionId: string } };

export interface ServerEvent {
  readonly kind: string;
  readonly data: string;
  /** Null when the event has none. */
  readonly id: string | null;
}

export interface EventsSettings {
  /** The id of the last event of an earlier stream: events continue after it. */
  readonly lastEventId: string | null;
  /** The connection counts as dead when no byte has come for this long. Comments are signs of life too. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Called when the platform has answered. */
  readonly onOpen?: () => void;
  /** Called at each sign of life. */
  readonly onBytes?: () => void;
}

/**
 * The events of one connection, until it ends. Those that belong together carry their id with the last of them.
 * @throws ApiError when the platform refuses; NetworkError when the connection breaks, ends, or is silent
 */
export async function* sessionEvents(
  client: ApiClient,
  sessionId: string,
  { lastEventId, silenceMs, signal, onOpen, onBytes }: EventsSettings,
): AsyncGenerator<SessionEvent & { readonly id: string | null }, never> {
  const response = await client.open('GET /api/v2/sessions/{id}/events', {
    params: { id: sessionId },
    headers: {
      accept: 'text/event-stream, application/json',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  });
  onOpen?.();
  for await (const { kind, data, id } of readEvents(response, silenceMs, onBytes)) {
    yield { kind, data: JSON.parse(data), id } as SessionEvent & { readonly id: string | null };
  }
  throw new NetworkError(`${client.address || 'The platform'} has ended the stream.`);
}

/**
 * Cuts an answer's body into events, until it ends or is silent for too long.
 * @throws NetworkError when the connection breaks
 */
export async function* readEvents(
  response: Response,
  silenceMs: number,
  onBytes?: () => void,
): AsyncGenerator<ServerEvent, void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: longestEventCharacters,
    onEvent: ({ event = 'message', data, id = null }) => events.push({ kind: event, data, id }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel(), silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      onBytes?.();
      parser.feed(value);
      yield* events;
      events = [];
    }
  } catch (cause) {
    throw new NetworkError('The event stream broke.', { cause });
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
