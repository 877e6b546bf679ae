import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChannelSeries } from '../api.ts';
import { readSeries } from '../api.ts';
import { isAbort } from '../http.ts';
import type { TimeSpan } from './model.ts';

/** More than a wide screen has columns, so that a fresh range looks as sharp as it can. */
const maxPoints = 2000;
/** Channels of one request: limits the length of its address and shows the first curves early. */
const channelsPerRequest = 12;
const requestsAtOnce = 2;
/** Zooming by key or wheel passes many ranges; only the final one is fetched. */
const settleMs = 90;
const keptSeries = 400;

export interface SeriesState {
  /** By channel key. While a new range is loading, the points of the previous one stay. */
  byKey: ReadonlyMap<string, ChannelSeries>;
  loading: boolean;
  error: Error | null;
  retry: () => void;
}

/** The points of the channels within a span, each from the dashboard that has it, fetched again at full resolution whenever the span changes. */
export function useSeries(
  dimensionOf: (key: string) => string,
  keys: readonly string[],
  span: TimeSpan | null,
): SeriesState {
  const cache = useRef(new Map<string, ChannelSeries>());
  const [byKey, setByKey] = useState<ReadonlyMap<string, ChannelSeries>>(new Map());
  const [loading, setLoading] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const wanted = `${keys.join('\n')}|${span?.fromMs}|${span?.toMs}`;

  useEffect(() => {
    if (span === null) return;
    const held = keys.flatMap((key) => {
      const series = cache.current.get(cacheKey(key, span));
      return series === undefined ? [] : [series];
    });
    setByKey((before) => withSeries(before, held));
    const heldKeys = new Set(held.map((series) => series.channel));
    const missing = keys.filter((key) => !heldKeys.has(key));
    setError(null);
    setLoading(missing.length > 0);
    if (missing.length === 0) return;
    const controller = new AbortController();
    const timer = window.setTimeout(() => {
      fetchAll(dimensionOf, missing, span, controller.signal, (series) => {
        keep(cache.current, series, span);
        setByKey((before) => withSeries(before, series));
      })
        .then(() => setLoading(false))
        .catch((failure: unknown) => {
          if (controller.signal.aborted || isAbort(failure)) return;
          controller.abort();
          setLoading(false);
          setError(failure instanceof Error ? failure : new Error(String(failure)));
        });
    }, settleMs);
    return () => {
      window.clearTimeout(timer);
      controller.abort();
    };
  }, [wanted, round]);

  return { byKey, loading, error, retry: () => setRound((before) => before + 1) };
}

async function fetchAll(
  dimensionOf: (key: string) => string,
  keys: string[],
  span: TimeSpan,
  signal: AbortSignal,
  arrived: (series: readonly ChannelSeries[]) => void,
): Promise<void> {
  const waiting: { dimensionId: string; batch: string[] }[] = [];
  for (const [dimensionId, own] of Map.groupBy(keys, dimensionOf)) {
    for (let start = 0; start < own.length; start += channelsPerRequest) {
      waiting.push({ dimensionId, batch: own.slice(start, start + channelsPerRequest) });
    }
  }
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { dimensionId, batch } = next;
      const reply = await readSeries(dimensionId, batch, span.fromMs, span.toMs, maxPoints, signal);
      signal.throwIfAborted();
      arrived(reply.series);
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
}

function withSeries(before: ReadonlyMap<string, ChannelSeries>, series: readonly ChannelSeries[]) {
  if (series.every((one) => before.get(one.channel) === one)) return before;
  const after = new Map(before);
  for (const one of series) after.set(one.channel, one);
  return after;
}

function cacheKey(channel: string, span: TimeSpan): string {
  return `${span.fromMs}|${span.toMs}|${channel}`;
}

/** The oldest go first: a Map keeps the order in which its entries came. */
function keep(cache: Map<string, ChannelSeries>, series: readonly ChannelSeries[], span: TimeSpan): void {
  for (const one of series) cache.set(cacheKey(one.channel, span), one);
  for (const key of cache.keys()) {
    if (cache.size <= keptSeries) break;
    cache.delete(key);
  }
}
