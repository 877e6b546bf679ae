import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Progress } from '../api.ts';
import { readProgress } from '../api.ts';
import { isAbort } from '../http.ts';
import { isUnderWay } from '../node-state.ts';

const shortestWaitMs = 700;
const longestWaitMs = 10_000;
const growth = 1.5;
/** After something was sent in, the first look may come before the platform has anything to show. */
const looksAfterNudge = 4;

export interface Followed {
  progress: Progress | null;
  error: Error | null;
  /** True while a node waits or works and the page therefore looks again by itself. */
  live: boolean;
  /** Looks at once, and a few times more: called after an upload. */
  nudge: () => void;
}

/**
 * A session's progress, kept fresh: looked at again while a node waits or works and the tab is visible, at once
 * after a change and then ever more seldom while nothing changes. A hidden tab rests and looks when shown again.
 */
export function useProgress(sessionId: string): Followed {
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [live, setLive] = useState(false);
  const follower = useRef<{ nudge: () => void } | null>(null);

  useEffect(() => {
    const current = follow(sessionId, { setProgress, setError, setLive });
    follower.current = current;
    return () => current.stop();
  }, [sessionId]);

  const nudge = useCallback(() => follower.current?.nudge(), []);
  return { progress, error, live, nudge };
}

interface Sinks {
  setProgress: (progress: Progress) => void;
  setError: (error: Error | null) => void;
  setLive: (live: boolean) => void;
}

function follow(sessionId: string, sinks: Sinks): { nudge: () => void; stop: () => void } {
  const controller = new AbortController();
  let timer: number | undefined;
  let waitMs = shortestWaitMs;
  let looksOwed = 0;
  let last = '';
  let looking = false;
  let lookAgain = false;

  const look = async (): Promise<void> => {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    window.clearTimeout(timer);
    let goOn = true;
    let underWay = false;
    try {
      const progress = await readProgress(sessionId, controller.signal);
      const text = JSON.stringify(progress);
      const changed = text !== last;
      last = text;
      waitMs = changed ? shortestWaitMs : Math.min(longestWaitMs, waitMs * growth);
      underWay = progress.nodeInstances.some((node) => isUnderWay(node.state));
      goOn = looksOwed > 0 || underWay;
      looksOwed = Math.max(0, looksOwed - 1);
      sinks.setError(null);
      if (changed) sinks.setProgress(progress);
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return;
      sinks.setError(error instanceof Error ? error : new Error(String(error)));
      waitMs = Math.min(longestWaitMs, waitMs * 2);
      goOn = last !== '';
    } finally {
      looking = false;
    }
    if (controller.signal.aborted) return;
    sinks.setLive(underWay);
    if (lookAgain) {
      lookAgain = false;
      void look();
    } else if (goOn && !document.hidden) {
      timer = window.setTimeout(() => void look(), waitMs);
    }
  };

  const nudge = (): void => {
    looksOwed = looksAfterNudge;
    waitMs = shortestWaitMs;
    void look();
  };
  const onVisibility = (): void => {
    window.clearTimeout(timer);
    if (!document.hidden) {
      waitMs = shortestWaitMs;
      void look();
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  void look();
  return {
    nudge,
    stop: () => {
      controller.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
}
