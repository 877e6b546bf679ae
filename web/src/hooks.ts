import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AuthState } from './auth.ts';
import { authState, onAuthChange } from './auth.ts';
import { isAbort, isOutage, textOf } from './http.ts';
import { usePreferences } from './preferences.ts';

/** How often what failed in an outage is tried again. */
export const retryMs = 5_000;

export interface Resource<T> {
  /** The last answer; it stays while a newer one is loading, and when one for the same key fails. */
  data: T | null;
  error: Error | null;
  loading: boolean;
  reload: () => void;
}

interface Held<T> {
  readonly key: string;
  /** The key for which the data were loaded. */
  readonly of: string;
  readonly data: T | null;
  readonly error: Error | null;
  readonly loading: boolean;
}

interface ResourceOptions {
  /** The answer of the previous key stays until the new one has arrived, as for a list's page. */
  keepWhileLoading?: boolean;
  /** The same key is loaded again when it changes, soon afterwards. Undefined until it is known. */
  version?: string | number | undefined;
  /** How soon, at the latest. A long list is read less often. */
  burstMs?: number;
}

/**
 * Loads once for each `key`, and again by `reload` and for each version. A request of another key is aborted; one of the
 * same key is waited for, since an answer may take longer than the next change. While the platform does not answer, it is
 * asked again and again.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  options: ResourceOptions = {},
): Resource<T> {
  const keep = options.keepWhileLoading === true;
  const [held, setHeld] = useState<Held<T>>({ key, of: key, data: null, error: null, loading: true });
  const { round, reload, began, ended } = useRounds();
  const loader = useRef(load);
  loader.current = load;

  useEffect(() => {
    const controller = new AbortController();
    began();
    setHeld((before) => ({
      key,
      of: before.of,
      data: keep || before.of === key ? before.data : null,
      error: before.key === key ? before.error : null,
      loading: true,
    }));
    loader
      .current(controller.signal)
      .then((data) => {
        if (controller.signal.aborted) return;
        setHeld({ key, of: key, data, error: null, loading: false });
        ended();
      })
      .catch((error: unknown) => {
        if (controller.signal.aborted) return;
        ended();
        if (isAbort(error)) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        setHeld((before) => failed(key, before, failure));
      });
    return () => controller.abort();
    // `round` changes to load the same key again.
  }, [key, round]);

  useVersion(options.version, reload, options.burstMs ?? burstMs);
  const current = held.key === key;
  useEvery(retryMs, current && !held.loading && isOutage(held.error), reload);
  return {
    data: current || keep ? held.data : null,
    error: current ? held.error : null,
    loading: current ? held.loading : true,
    reload,
  };
}

/** What was loaded of the key before stays. */
const failed = <T>(key: string, { of, data }: Held<T>, error: Error): Held<T> => ({
  key,
  of,
  data: of === key ? data : null,
  error,
  loading: false,
});

/** Counts the times to load: `reload` begins one, at once or after the one that is under way. */
function useRounds() {
  const [round, setRound] = useState(0);
  const isLoading = useRef(false);
  const isDue = useRef(false);
  const reload = useCallback(() => {
    if (isLoading.current) isDue.current = true;
    else setRound((before) => before + 1);
  }, []);
  const began = () => {
    isLoading.current = true;
    isDue.current = false;
  };
  const ended = () => {
    isLoading.current = false;
    if (isDue.current) reload();
  };
  return { round, reload, began, ended };
}

/** Changes come in bursts, and a burst may last: one reading follows within this time. */
const burstMs = 500;

function useVersion(version: ResourceOptions['version'], read: () => void, withinMs: number): void {
  const seen = useRef(version);
  const dueAt = useRef<number | null>(null);
  useEffect(() => {
    // The first one that is known is that of the first reading.
    seen.current ??= version;
    if (version === seen.current) return;
    dueAt.current ??= Date.now() + withinMs;
    const timer = window.setTimeout(() => {
      seen.current = version;
      dueAt.current = null;
      read();
    }, dueAt.current - Date.now());
    return () => window.clearTimeout(timer);
  }, [version]);
}

export function useAuth(): AuthState {
  const [state, setState] = useState(authState);
  useEffect(() => {
    // A change may have come between the first render and this effect.
    setState(authState());
    return onAuthChange(setState);
  }, []);
  return state;
}

export interface Action {
  busy: boolean;
  /** The last error, for people. */
  problem: string | null;
  /** Does `work` unless another is running; true on success. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
}

/**
 * An action of a button or a form: one at a time, with its error. Its button is `aria-disabled` while it runs, not
 * `disabled`, which would lose the focus.
 */
export function useAction(): Action {
  const [state, setState] = useState<{ busy: boolean; problem: string | null }>({
    busy: false,
    problem: null,
  });
  const busy = useRef(false);
  const run = useCallback(async (work: () => Promise<unknown>) => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: true, problem: null });
    let problem: string | null = null;
    try {
      await work();
    } catch (error) {
      problem = textOf(error);
    }
    busy.current = false;
    setState({ busy: false, problem });
    return problem === null;
  }, []);
  return { ...state, run };
}

/** `value`, once it has stayed the same for `delayMs`. */
export function useSettled<T>(value: T, delayMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), delayMs);
    return () => window.clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}

/**
 * Calls `work` every `everyMs` while `active` and the tab is shown, and as soon as it is shown again. What it returns is
 * waited for: while a sign-in has expired, a call waits for hours, and calls beside it would all be made afterwards.
 */
export function useEvery(everyMs: number, active: boolean, work: () => unknown): void {
  const latest = useRef(work);
  latest.current = work;
  const isBusy = useRef(false);
  useEffect(() => {
    if (!active) return;
    const unlessHidden = async () => {
      if (document.hidden || isBusy.current) return;
      isBusy.current = true;
      try {
        await latest.current();
      } finally {
        isBusy.current = false;
      }
    };
    const timer = window.setInterval(unlessHidden, everyMs);
    document.addEventListener('visibilitychange', unlessHidden);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', unlessHidden);
    };
  }, [everyMs, active]);
}

/** The present time; while `active` the component renders each `everyMs`. */
export function useNow(active: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEvery(everyMs, active, () => setNow(Date.now()));
  return active ? now : Date.now();
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    document.title = title === null ? 'Simulation Data Platform' : `${title} · Simulation Data Platform`;
  }, [title]);
}

/** True while the console is dark; changes with it. */
export function useDarkScheme(): boolean {
  return usePreferences().isDark;
}
