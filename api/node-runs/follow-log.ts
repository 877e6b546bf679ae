/** A caller who follows the log of a run: pages are read as fast as the caller takes them, until the run has ended. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';
import type { LogPage } from '../../store/run-logs/read-log.ts';
import { presentLogPage } from './log-page.ts';

interface Followed {
  readonly first: LogPage;
  /** @throws when the run is gone */
  readonly read: (after: number) => Promise<LogPage>;
  /** Whether the caller may still read it. */
  readonly isAllowed: () => Promise<boolean>;
  readonly shutdown: AbortSignal;
}

const keepAliveMs = limits.sessionEventKeepAliveSeconds * 1_000;

export function followLog(followed: Followed): Readable {
  const ended = new AbortController();
  const signal = AbortSignal.any([followed.shutdown, ended.signal]);
  const stream = Readable.from(texts(followed, signal), { objectMode: false });
  // The caller reconnects after an error; one without a listener would end the process.
  stream.on('error', () => undefined).once('close', () => ended.abort());
  return stream;
}

async function* texts({ first, read, isAllowed }: Followed, signal: AbortSignal): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  let page = first;
  let checkedAtMs = performance.now();
  while (!signal.aborted) {
    if (page.entries.length > 0) yield eventsOf(page);
    if (page.complete) {
      yield 'event: end\ndata: {}\n\n';
      return;
    }
    if (page.entries.length === 0) {
      await delay(limits.logFollowPollMilliseconds, undefined, { signal }).catch(() => undefined);
    }
    if (performance.now() - checkedAtMs > keepAliveMs) {
      if (!(await isAllowed())) return;
      checkedAtMs = performance.now();
      yield ': still there\n\n';
    }
    page = await read(page.next);
  }
}

function eventsOf(page: LogPage): string {
  return presentLogPage(page)
    .entries.map((entry) => `event: entry\nid: ${entry.position}\ndata: ${JSON.stringify(entry)}\n\n`)
    .join('');
}
