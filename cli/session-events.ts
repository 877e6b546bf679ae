/** The live events of a session: one stream that resumes where it broke, without polling. */
import { BackOff, isTransient } from '../client/back-off.ts';
import { type EventsSettings, type SessionEvent, sessionEvents } from '../client/session-events.ts';
import type { PlatformClient } from './platform-client.ts';

export type { SessionEvent } from '../client/session-events.ts';

/** The platform sends a sign of life every few seconds. */
const silenceMs = 30_000;
/** Failed tries in a row: about a minute. */
const maxTries = 15;

/**
 * Every event until the session is deleted. Events since the last complete batch may come twice after a break.
 * @throws ApiError when the session does not exist or may not be read, and when the platform stays unreachable
 */
export async function* follow(platform: PlatformClient, sessionId: string): AsyncGenerator<SessionEvent> {
  const backOff = new BackOff({ firstMs: 250, longestMs: 5_000 });
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
      for await (const { id, ...event } of sessionEvents(platform, sessionId, settings)) {
        lastEventId = id ?? lastEventId;
        yield event;
        if (event.kind === 'deleted') return;
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
