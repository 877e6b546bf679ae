/** Live events: one stream that resumes where it broke, without polling. */
import { Outage } from '../client/back-off.ts';
import type { EventsSettings } from '../client/event-stream.ts';

/** The platform sends a sign of life every few seconds. */
const silenceMs = 30_000;

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
  const outage = new Outage();
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
        onBytes: () => outage.end(),
      };
      for await (const event of connect(settings)) {
        lastEventId = event.id ?? lastEventId;
        yield event;
        if (event.kind === lastKind) return;
      }
    } catch (error) {
      await outage.outlast(error);
    } finally {
      clearTimeout(opening);
      hangUp.abort();
    }
  }
}
