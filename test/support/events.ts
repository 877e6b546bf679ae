/** A caller who follows a session's live events. */
import { eventually } from './eventually.ts';

export interface ReceivedEvent {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sends.
  readonly data: any;
}

export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** All so far, in order. */
  readonly events: readonly ReceivedEvent[];
  /** As a browser would send it back. */
  readonly lastEventId: string | undefined;
  /** When the newest event came, milliseconds of `performance.now()`. */
  readonly newestAtMs: number;
  readonly isOver: boolean;
  /** The first event that fits, as soon as it has come. */
  until(fits: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  close(): void;
}

export async function followEvents(
  url: string,
  sessionId: string,
  token: string,
  lastEventId?: string,
): Promise<EventReader> {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/api/v2/sessions/${sessionId}/events`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: hangUp.signal,
  });
  const reader = {
    status: response.status,
    headers: response.headers,
    events: [] as ReceivedEvent[],
    lastEventId: undefined as string | undefined,
    newestAtMs: 0,
    isOver: false,
    until(fits: (event: ReceivedEvent) => boolean) {
      return eventually('an event that fits', () => reader.events.find(fits));
    },
    close: () => hangUp.abort(),
  };
  if (response.status === 200) void read(response, reader);
  return reader;
}

async function read(
  response: Response,
  reader: { events: ReceivedEvent[]; lastEventId: string | undefined; newestAtMs: number; isOver: boolean },
): Promise<void> {
  let text = '';
  try {
    for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
      text += bytes;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(
          block
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        if (fields.has('id')) reader.lastEventId = fields.get('id');
        if (!fields.has('data')) continue;
        reader.newestAtMs = performance.now();
        reader.events.push({ kind: fields.get('event')!, data: JSON.parse(fields.get('data')!) });
      }
    }
  } catch {
    // The caller closed the connection, or it was cut.
  }
  reader.isOver = true;
}
