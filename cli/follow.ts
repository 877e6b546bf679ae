/** Live events: one stream that resumes where it broke, without polling. */
import { BackOff, isTransient } from '../client/back-off.ts';
import type { EventsSettings } from '../client/event-stream.ts';

/** The platform sends a sign of life every few seconds. */
const silenceMs = 30_000;
/** Failed tries in a row: about a minute. */
const maxTries = 15;

/**
 * Every event until the last. Events since the last one with an id may come twice after a break.
 * @param connect the events of one connection
 * @param lastKind the kind of the event after which nothing follows
 * @throws ApiError when the platform refuses, and when it stays unreachable
 */
export async function* follow<Event extends { readonly kind: string }>(
  connect: (settings: EventsSettings) => AsyncIterable<Event & { readonly id: string | null }>,
  lastKind: Event['kind'],
): AsyncGenerator<Event> {
  const backOff = new BackOff({ firstMs: 250, maxMs: 5_000 });
  let lastEventId: string | null = null;
  for (;;) {
    const hangUp = new AbortController();
    const opening = setTimeout(() => hangUp.abort(new DOMException('silent', 'TimeoutError')), silenceMs);
    try {
      const settings: EventsSettings = {
        lastEventId,
        silenceMs,
        signal: hangUp.signal,
        onOpen: () => clearTimeout(opening),
        onBytes: () => backOff.reset(),
      };
      for await (const event of connect(settings)) {
        lastEventId = event.id ?? lastEventId;
        yield event;
        if (event.kind === lastKind) return;
      }
    } catch (error) {
      if (!isTransient(error) || backOff.failures + 1 >= maxTries) throw error;
      await backOff.wait(error);
    } finally {
      clearTimeout(opening);
      hangUp.abort();
    }
  }
}
