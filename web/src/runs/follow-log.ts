import { useEffect, useRef, useState } from 'preact/hooks';
import { BackOff } from '../../../client/back-off.ts';
import { ApiError } from '../../../client/errors.ts';
import { readEvents } from '../../../client/event-stream.ts';
import { connectionOf, pauseOrOnline, untilShown } from '../visibility.ts';
import { type LogQuery, openLog, type RunLogEntry } from './api.ts';
import { LogLines } from './log-lines.ts';

/** The platform sends a sign of life every few seconds. */
const silenceMs = 30_000;
const waits = { firstMs: 1000, maxMs: 15_000 };
/** Lines of one page of the platform. */
const limit = 1000;
/** Height of a line of one row: see runs.css. */
const linePx = 20;

export interface FollowedLog {
  readonly lines: LogLines;
  /** Grows with every change of the lines. */
  readonly version: number;
  readonly connection: 'opening' | 'live' | 'lost';
  /** The reason that the log cannot be read. */
  readonly error: Error | null;
}

/** The log of a run as it grows. Another filter or run begins anew; a broken stream continues where it ended. */
export function useLog(runId: string, filter: Omit<LogQuery, 'after' | 'limit'>): FollowedLog {
  const key = JSON.stringify([runId, filter]);
  const fresh = (): FollowedLog => ({
    lines: new LogLines(linePx),
    version: 0,
    connection: 'opening',
    error: null,
  });
  const [state, setState] = useState(fresh);
  const held = useRef(key);
  useEffect(() => {
    const controller = new AbortController();
    const begun = fresh();
    if (held.current !== key) setState(begun);
    held.current = key;
    const change = (part: Partial<FollowedLog>) => {
      if (!controller.signal.aborted)
        setState((before) => ({ ...before, ...part, lines: begun.lines, version: before.version + 1 }));
    };
    void follow(runId, filter, begun.lines, change, controller.signal);
    return () => controller.abort();
  }, [key]);
  return state;
}

type Change = (part: Partial<FollowedLog>) => void;

async function follow(
  runId: string,
  filter: LogQuery,
  lines: LogLines,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const backOff = new BackOff(waits);
  const drawn = drawing(change);
  while (!signal.aborted && !lines.isComplete) {
    await untilShown(signal);
    const connection = connectionOf(signal);
    let failure: unknown;
    try {
      const lastEventId = lines.entries.at(-1)?.position.toString() ?? null;
      const response = await openLog(runId, { ...filter, limit }, lastEventId, connection.signal);
      change({ connection: 'live', error: null });
      backOff.reset();
      for await (const { kind, data } of readEvents(response, silenceMs)) {
        if (kind === 'end') lines.isComplete = true;
        else if (kind === 'entry') lines.add(JSON.parse(data) as RunLogEntry);
        drawn();
        if (lines.isComplete) break;
      }
    } catch (error) {
      failure = error;
    } finally {
      connection.close();
    }
    if (signal.aborted || lines.isComplete) return;
    if (failure instanceof ApiError && failure.status < 500 && failure.status !== 429) {
      return change({ connection: 'lost', error: failure });
    }
    if (document.hidden) continue;
    change({ connection: 'lost' });
    await pauseOrOnline(backOff.nextMs(failure), signal);
  }
}

/** Lines come faster than they can be drawn: at most ten times a second they are. */
function drawing(change: Change): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    window.setTimeout(() => {
      isDue = false;
      change({});
    }, 100);
  };
}
