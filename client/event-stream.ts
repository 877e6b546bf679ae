/** Server-sent events over fetch, which unlike EventSource can carry a bearer token. */
import { createParser } from 'eventsource-parser';
import { NetworkError } from './errors.ts';

/** Far above the longest event; a server that sends a longer one is not the platform. */
const maxEventCharacters = 16 * 1024 * 1024;

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

/** What a call sends to get a stream. */
interface StreamRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * The events of one connection, until it ends.
 * @param open calls the route
 * @throws ApiError when the platform refuses; NetworkError when the connection breaks, ends, or is silent
 */
export async function* streamEvents(
  open: (request: StreamRequest) => Promise<Response>,
  { lastEventId, silenceMs, signal, onOpen, onBytes }: EventsSettings,
): AsyncGenerator<ServerEvent, never> {
  const response = await open({
    headers: {
      accept: 'text/event-stream, application/json',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  });
  onOpen?.();
  yield* readEvents(response, silenceMs, onBytes);
  throw new NetworkError('The platform ended the stream.');
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
  const hangUp = () => void reader.cancel().catch(() => undefined);
  let events: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: maxEventCharacters,
    onEvent: ({ event = 'message', data, id = null }) => events.push({ kind: event, data, id }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  try {
    for (;;) {
      const timer = setTimeout(hangUp, silenceMs);
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
    hangUp();
  }
}
