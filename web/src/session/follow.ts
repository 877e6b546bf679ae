import { useCallback, useEffect, useState } from 'preact/hooks';
import { BackOff } from '../../../client/back-off.ts';
import { ApiError } from '../../../client/errors.ts';
import { type SessionEvent, sessionEvents } from '../../../client/session-events.ts';
import type { NodeInstanceProgress, SessionWindowEvent } from '../../../client/types.ts';
import { platform } from '../http.ts';
import { connectionOf, pauseOrOnline, untilShown } from '../visibility.ts';
import { inSteps } from './in-steps.ts';

/** The platform sends a sign of life every five seconds: two are missing. */
const silenceMs = 12_000;
/** A node that goes through thousands of inputs reports a hundred changes a second. */
const stepMs = 250;
const waits = { firstMs: 1000, maxMs: 15_000 };

export interface Followed {
  /** Null until the first events have arrived. */
  nodes: readonly NodeInstanceProgress[] | null;
  window: SessionWindowEvent | null;
  /** Grows with every reported change. */
  round: number;
  connection: 'opening' | 'live' | 'lost';
  deleted: boolean;
  /** The reason that the session cannot be followed. */
  error: Error | null;
  /** Starts again after an error. */
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
 * The state of a session from its live events. A broken stream is opened again where it ended; a hidden tab has none,
 * since a browser allows few connections to one server, and catches up when it is shown again.
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
  const reported = new ReportedState(change, signal);
  const backOff = new BackOff(waits);
  while (!signal.aborted && !reported.isOver) {
    await untilShown(signal);
    const connection = connectionOf(signal);
    const onOpen = () => {
      change((before) => ({ ...before, connection: 'live', error: null }));
      backOff.reset();
    };
    let failure: unknown;
    try {
      const { lastEventId } = reported;
      const settings = { lastEventId, silenceMs, signal: connection.signal, onOpen };
      for await (const { id, ...event } of sessionEvents(platform, sessionId, settings))
        reported.apply(event, id);
    } catch (error) {
      failure = error;
    } finally {
      connection.close();
    }
    if (signal.aborted || reported.isOver) return;
    if (failure instanceof ApiError && isDefinite(failure)) {
      return change((before) => ({ ...before, connection: 'lost', error: failure }));
    }
    if (document.hidden) continue;
    const error = failure instanceof ApiError && reported.lastEventId === null ? failure : null;
    change((before) => ({ ...before, connection: 'lost', error: error ?? before.error }));
    await pauseOrOnline(backOff.nextMs(failure), signal);
  }
}

/** True for refusals that a repeat would not change. */
const isDefinite = ({ status }: ApiError) => status >= 400 && status < 500 && status !== 429;

/** The state from the events so far. The events of a batch are shown together, at the one that carries the id. */
class ReportedState {
  lastEventId: string | null = null;
  isOver = false;
  readonly #nodes = new Map<number, NodeInstanceProgress>();
  #window: SessionWindowEvent | null = null;
  readonly #change: Change;

  readonly #show: (reported: Pick<State, 'nodes' | 'window'>) => void;

  constructor(change: Change, signal: AbortSignal) {
    this.#change = change;
    const show = (reported: Pick<State, 'nodes' | 'window'>) =>
      change((before) => ({ ...before, ...reported, round: before.round + 1 }));
    this.#show = inSteps(stepMs, show, signal);
  }

  apply(event: SessionEvent, id: string | null): void {
    if (event.kind === 'deleted') {
      this.isOver = true;
      this.#change((before) => ({ ...before, deleted: true }));
      return;
    }
    if (event.kind === 'node') {
      this.#nodes.set(event.data.id, event.data);
    } else if (event.kind === 'window') {
      this.#window = event.data;
    }
    if (id === null) return;
    this.lastEventId = id;
    this.#show({ nodes: [...this.#nodes.values()], window: this.#window });
  }
}
