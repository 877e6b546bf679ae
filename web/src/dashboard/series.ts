import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChannelSeries, StatisticsReply } from '../api.ts';
import { readSeries, readStatistics } from '../dashboard-api.ts';
import { retryMs, useEvery } from '../hooks.ts';
import { isAbort, isOutage } from '../http.ts';
import { withoutNoise } from './figure-texts.ts';
import type { TimeSpan } from './model.ts';

export type ChannelStatistics = StatisticsReply['statistics'][number];

/** What is read of channels within a span. */
export interface Reading<Answer> {
  read: (
    dimensionId: string,
    keys: string[],
    span: TimeSpan,
    signal: AbortSignal,
  ) => Promise<readonly Answer[]>;
  keyOf: (answer: Answer) => string;
  /** Limits the length of a request's address and shows the first answers early. */
  channelsPerRequest: number;
  /** Zooming by key or wheel passes many ranges; only the final one is fetched. */
  settleMs: number;
}

/** More than a wide screen has columns, so that a fresh range looks as sharp as it can. */
const maxPoints = 2000;
export const points: Reading<ChannelSeries> = {
  read: async (id, keys, span, signal) => (await readSeries(id, keys, span, maxPoints, signal)).series,
  keyOf: ({ channel }) => channel,
  channelsPerRequest: 12,
  settleMs: 90,
};
/** Statistics are read after the curves. */
export const statistics: Reading<ChannelStatistics> = {
  read: async (id, keys, span, signal) =>
    (await readStatistics(id, keys, span, signal)).statistics.map(withMean),
  keyOf: ({ key }) => key,
  channelsPerRequest: 24,
  settleMs: 250,
};
/** With a mean that can be read. */
function withMean(one: ChannelStatistics): ChannelStatistics {
  const { mean, min, max } = one;
  if (mean === null || min === null || max === null) return one;
  return { ...one, mean: withoutNoise(mean, Math.max(Math.abs(min.value), Math.abs(max.value))) };
}

const settled = { loading: false, error: null };
const requestsAtOnce = 3;
const keptAnswers = 400;

export interface WindowState<Answer> {
  /** By channel key. While a new range is loading, the answers of the previous one stay. */
  byKey: ReadonlyMap<string, Answer>;
  loading: boolean;
  error: Error | null;
  retry: () => void;
}

/** The points of the channels within a span, fetched again at full resolution whenever the span changes. */
export const useSeries = (
  dimensionOf: (key: string) => string,
  keys: readonly string[],
  span: TimeSpan | null,
) => useWindow(points, dimensionOf, keys, span === null ? null : () => span);

export const useStatistics = (
  dimensionOf: (key: string) => string,
  keys: readonly string[],
  span: TimeSpan | null,
) => useWindow(statistics, dimensionOf, keys, span === null ? null : () => span);

/** Each channel is read from the dashboard that has it, within the span that is its own. */
export function useWindow<Answer>(
  reading: Reading<Answer>,
  dimensionOf: (key: string) => string,
  keys: readonly string[],
  spanOf: ((key: string) => TimeSpan) | null,
): WindowState<Answer> {
  const cache = useRef(new Map<string, Answer>());
  const [byKey, setByKey] = useState<ReadonlyMap<string, Answer>>(new Map());
  const [state, setState] = useState<{ loading: boolean; error: Error | null }>(settled);
  const [round, setRound] = useState(0);
  const wanted = spanOf === null ? '' : keys.map((key) => cacheKey(key, spanOf(key))).join('\n');

  useEffect(() => {
    if (spanOf === null) return;
    const held = keys.flatMap((key) => cache.current.get(cacheKey(key, spanOf(key))) ?? []);
    setByKey((before) => withAnswers(before, held, reading.keyOf));
    const heldKeys = new Set(held.map(reading.keyOf));
    const missing = keys.filter((key) => !heldKeys.has(key));
    // An error stays until there is an answer: else its message would come and go while the platform is away.
    setState(({ error }) => (missing.length === 0 ? settled : { loading: true, error }));
    if (missing.length === 0) return;
    const controller = new AbortController();
    const timer = window.setTimeout(() => {
      fetchAll(reading, dimensionOf, missing, spanOf, controller.signal, (answers) => {
        for (const answer of answers) {
          const key = reading.keyOf(answer);
          cache.current.set(cacheKey(key, spanOf(key)), answer);
        }
        dropOldest(cache.current);
        setByKey((before) => withAnswers(before, answers, reading.keyOf));
      })
        .then(() => setState(settled))
        .catch((failure: unknown) => {
          if (controller.signal.aborted || isAbort(failure)) return;
          controller.abort();
          const error = failure instanceof Error ? failure : new Error(String(failure));
          setState({ loading: false, error });
        });
    }, reading.settleMs);
    return () => {
      window.clearTimeout(timer);
      controller.abort();
    };
  }, [wanted, round]);

  const retry = () => setRound((before) => before + 1);
  useEvery(retryMs, isOutage(state.error), retry);
  return { byKey, ...state, retry };
}

async function fetchAll<Answer>(
  reading: Reading<Answer>,
  dimensionOf: (key: string) => string,
  keys: string[],
  spanOf: (key: string) => TimeSpan,
  signal: AbortSignal,
  arrived: (answers: readonly Answer[]) => void,
): Promise<void> {
  const waiting: { dimensionId: string; span: TimeSpan; batch: string[] }[] = [];
  for (const own of Map.groupBy(keys, (key) => cacheKey(dimensionOf(key), spanOf(key))).values()) {
    const [dimensionId, span] = [dimensionOf(own[0]!), spanOf(own[0]!)];
    for (let start = 0; start < own.length; start += reading.channelsPerRequest) {
      waiting.push({ dimensionId, span, batch: own.slice(start, start + reading.channelsPerRequest) });
    }
  }
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const answers = await reading.read(next.dimensionId, next.batch, next.span, signal);
      signal.throwIfAborted();
      arrived(answers);
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
}

function withAnswers<Answer>(
  before: ReadonlyMap<string, Answer>,
  answers: readonly Answer[],
  keyOf: (answer: Answer) => string,
): ReadonlyMap<string, Answer> {
  if (answers.every((one) => before.get(keyOf(one)) === one)) return before;
  const after = new Map(before);
  for (const one of answers) after.set(keyOf(one), one);
  return after;
}

function cacheKey(channel: string, span: TimeSpan): string {
  return `${span.fromMs}|${span.toMs}|${channel}`;
}

/** A Map keeps the order in which its entries came. */
function dropOldest<Answer>(cache: Map<string, Answer>): void {
  for (const key of cache.keys()) {
    if (cache.size <= keptAnswers) break;
    cache.delete(key);
  }
}
