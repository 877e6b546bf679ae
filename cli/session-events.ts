/** The live events of a session: one stream that is resumed where it broke, without asking again and again. */
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError, isPassing, PlatformError } from './errors.ts';
import type { PlatformClient } from './platform-client.ts';

/** The platform shows every few seconds that the stream lives. */
const silenceMs = 30_000;
const firstPauseMs = 250;
const longestPauseMs = 5_000;
/** So many tries in a row that came to nothing: about a minute. */
const maxTries = 15;

export interface SessionEvent {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a form of its own, and newer platforms may add kinds.
  readonly data: any;
}

/**
 * Every event until the session is deleted. Events since the last complete batch may come twice after a break.
 * @throws PlatformError when the session is not there or may not be read, and when the platform stays away
 */
export async function* follow(platform: PlatformClient, sessionId: string): AsyncGenerator<SessionEvent> {
  let lastEventId: string | undefined;
  for (let tries = 1; ; tries++) {
    try {
      for await (const { id, event } of connected(platform, sessionId, lastEventId)) {
        tries = 0;
        lastEventId = id ?? lastEventId;
        if (event === undefined) continue;
        yield event;
        if (event.kind === 'deleted') return;
      }
    } catch (error) {
      if (!isPassing(error) || tries >= maxTries) throw error;
      const wanted = error instanceof PlatformError ? error.retryAfterMs : undefined;
      await delay(wanted ?? pauseMs(tries));
    }
  }
}

const pauseMs = (tries: number) =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** tries) * (0.5 + Math.random() / 2);

interface Block {
  readonly id: string | undefined;
  readonly event: SessionEvent | undefined;
}

async function* connected(
  platform: PlatformClient,
  sessionId: string,
  lastEventId: string | undefined,
): AsyncGenerator<Block> {
  const hangUp = new AbortController();
  const silence = setTimeout(() => hangUp.abort(), silenceMs);
  try {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const response = await platform.open(`/api/v2/sessions/${sessionId}/events`, headers, hangUp.signal);
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      silence.refresh();
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) yield parseBlock(block);
    }
    throw new ConnectionError(`${platform.address} has ended the stream.`);
  } catch (cause) {
    if (cause instanceof PlatformError || cause instanceof ConnectionError) throw cause;
    throw new ConnectionError(`The line to ${platform.address} broke.`, { cause });
  } finally {
    clearTimeout(silence);
    hangUp.abort();
  }
}

function parseBlock(block: string): Block {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    fields.set(name, name === 'data' && fields.has('data') ? `${fields.get('data')}\n${value}` : value);
  }
  const data = fields.get('data');
  const event =
    data === undefined ? undefined : { kind: fields.get('event') ?? 'message', data: JSON.parse(data) };
  return { id: fields.get('id'), event };
}
