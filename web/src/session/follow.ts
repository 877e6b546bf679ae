import { useCallback, useEffect, useState } from 'preact/hooks';
import type { NodeInstance, SessionWindow } from '../api.ts';
import { openSessionEvents } from '../api.ts';
import type { ServerEvent } from '../event-parser.ts';
import { readEvents } from '../event-stream.ts';
import { ApiError } from '../http.ts';

/** The platform shows every five seconds that the stream lives. */
const silenceMs = 20_000;
const shortestWaitMs = 1000;
const longestWaitMs = 15_000;

export interface Followed {
  /** Null until the first events have come. */
  nodes: NodeInstance[] | null;
  window: SessionWindow | null;
  /** Grows with every change that was told of. */
  round: number;
  connection: 'opening' | 'live' | 'lost';
  deleted: boolean;
  /** Why the session cannot be followed. */
  error: Error | null;
  /** Begins anew after an error. */
  retry: () => void;
}

type State = Omit<Followed, 'retry'>;

const unknown: State = {
  nodes: null,
  window: null,
  round: 0,
  connection: 'opening',
  deleted: false,
  error: null,
};

/**
 * A session as its live events tell it. A stream that breaks is opened again where it ended; a hidden tab has none,
 * since a browser keeps few connections to one server, and catches up when it is shown again.
 */
export function useSessionEvents(sessionId: string): Followed {
  const [state, setState] = useState<State>(unknown);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState(unknown);
    void follow(sessionId, setState, controller.signal);
    return () => controller.abort();
  }, [sessionId, attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { ...state, retry };
}

type Change = (part: (before: State) => State) => void;

async function follow(sessionId: string, change: Change, signal: AbortSignal): Promise<void> {
  const told = new Told(change);
  let waitMs = shortestWaitMs;
  while (!signal.aborted && !told.isOver) {
    await untilShown(signal);
    const connection = connectionOf(signal);
    let retryAfterMs = 0;
    try {
      const response = await openSessionEvents(sessionId, told.lastEventId, connection.signal);
      change((before) => ({ ...before, connection: 'live', error: null }));
      waitMs = shortestWaitMs;
      await readEvents(response, (event) => told.take(event), silenceMs);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError) {
        // Nothing that coming back would change.
        if (error.status >= 400 && error.status < 500 && error.status !== 429) {
          change((before) => ({ ...before, connection: 'lost', error }));
          return;
        }
        retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000;
        if (told.lastEventId === null) change((before) => ({ ...before, error }));
      }
    } finally {
      connection.close();
    }
    if (signal.aborted || told.isOver) return;
    if (document.hidden) continue;
    change((before) => ({ ...before, connection: 'lost' }));
    await pause(Math.max(waitMs, retryAfterMs), signal);
    waitMs = Math.min(longestWaitMs, waitMs * 2);
  }
}

/** What events have told so far. Those that belong together are shown together, at the one that carries the id. */
class Told {
  lastEventId: string | null = null;
  isOver = false;
  readonly #nodes = new Map<number, NodeInstance>();
  #window: SessionWindow | null = null;
  readonly #change: Change;

  constructor(change: Change) {
    this.#change = change;
  }

  take(event: ServerEvent): void {
    if (event.kind === 'deleted') {
      this.isOver = true;
      this.#change((before) => ({ ...before, deleted: true }));
      return;
    }
    if (event.kind === 'node') {
      const node = JSON.parse(event.data) as NodeInstance;
      this.#nodes.set(node.id, node);
    } else if (event.kind === 'window') {
      this.#window = JSON.parse(event.data) as SessionWindow;
    }
    if (event.id === null) return;
    this.lastEventId = event.id;
    const nodes = [...this.#nodes.values()];
    const window = this.#window;
    this.#change((before) => ({ ...before, nodes, window, round: before.round + 1 }));
  }
}

/** A signal that ends with `signal`, and when the tab is hidden. */
function connectionOf(signal: AbortSignal): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  const end = () => controller.abort();
  const onVisibility = () => document.hidden && end();
  signal.addEventListener('abort', end);
  document.addEventListener('visibilitychange', onVisibility);
  return {
    signal: controller.signal,
    close() {
      signal.removeEventListener('abort', end);
      document.removeEventListener('visibilitychange', onVisibility);
      end();
    },
  };
}

function untilShown(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      window.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = window.setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
