import { askSeries } from '../dashboard-api.ts';
import { type Resource, useResource } from '../hooks.ts';
import type { Alignment } from './address.ts';
import type { StepStarts } from './alignment.ts';
import { measureOf, type Recording } from './model.ts';

const requestsAtOnce = 3;

/** When the step channel of an alignment first has each of its values, in each recording that has the channel. */
export function useStepStarts(recordings: readonly Recording[], align: Alignment): Resource<StepStarts> {
  const measure = align.by === 'step' ? align.measure : '';
  const wanted = recordings.flatMap(({ id, dashboardId, channels }) => {
    const step = measure === '' ? undefined : channels.find((one) => measureOf(one) === measure);
    // Traces are made of channels of numbers; which one makes no difference to where they begin.
    const number = channels.find(({ kind }) => kind === 'number');
    if (step === undefined || number === undefined) return [];
    return [{ id, dashboardId: String(dashboardId), key: step.key, number: number.key }];
  });
  return useResource(
    wanted.map(({ id, key }) => `${id} ${key}`).join('\n'),
    async (signal) => {
      const starts = new Map<string, Map<string, number>>();
      const waiting = [...wanted];
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const { id, dashboardId, key, number } = next;
          const question = { channels: [number], split: key, maxPoints: 4, derived: [] };
          const { series } = await askSeries(dashboardId, question, signal);
          const found = series.flatMap(({ trace }): [string, number][] =>
            trace === undefined ? [] : [[String(trace.value), Date.parse(trace.from)]],
          );
          starts.set(id, new Map(found));
        }
      };
      await Promise.all(Array.from({ length: requestsAtOnce }, work));
      return starts;
    },
    { keepWhileLoading: true },
  );
}
