/** What a comparison draws: recordings, measures, and the values on the common axis. */
import { useMemo, useRef } from 'preact/hooks';
import type { ChannelSeries, Dashboard } from '../api.ts';
import type { Channel, Panel, TimeSpan } from '../dashboard/model.ts';
import { points, statistics, useWindow } from '../dashboard/series.ts';
import { clampSpan } from '../dashboard/time.ts';
import { listAnnotations } from '../dashboard-api.ts';
import { useResource } from '../hooks.ts';
import type { CompareView } from './address.ts';
import { type Anchors, shiftsOf } from './alignment.ts';
import { differencePanel, differencesOf } from './difference.ts';
import {
  commonSpan,
  measureOf,
  measuresOf,
  ownSpan,
  panelsOf,
  type Recording,
  recordingsOf,
  shownRecordings,
  suggestedMeasures,
} from './model.ts';

export interface Comparison {
  recordings: readonly Recording[];
  shown: readonly Recording[];
  shifts: ReadonlyMap<string, number>;
  /** A channel for each measure. */
  offered: Channel[];
  /** Chosen measures. */
  measures: string[];
  panels: Panel[];
  /** What others are compared with; null without recordings. */
  against: Recording | null;
  /** The whole common axis; null without rows. */
  full: TimeSpan | null;
  span: TimeSpan;
}

const nowhere: TimeSpan = { fromMs: 0, toMs: 1 };

export const useRecordings = (dashboards: readonly Dashboard[], { places }: CompareView) =>
  useMemo(() => recordingsOf(dashboards, places), [dashboards, places.join()]);

export function useComparison(
  dashboards: readonly Dashboard[],
  view: CompareView,
  anchors: Anchors,
): Comparison {
  const recordings = useRecordings(dashboards, view);
  const offered = useMemo(() => measuresOf(recordings), [recordings]);
  const suggested = useMemo(
    () => (dashboards[0] === undefined ? [] : suggestedMeasures(dashboards[0], recordings)),
    [dashboards, recordings],
  );
  const shown = shownRecordings(recordings, view.hidden);
  const shifts = shiftsOf(recordings, view.align, view.offsets, anchors);
  const isOffered = new Set(offered.map(({ key }) => key));
  const measures = (view.channels ?? suggested).filter((measure) => isOffered.has(measure));
  const full = commonSpan(shown.length > 0 ? shown : recordings, shifts);
  const identity = `${measures.join('\n')}\n${shown.map(({ id }) => id).join()}`;
  return {
    recordings,
    shown,
    shifts,
    offered,
    measures,
    panels: useMemo(() => panelsOf(measures, shown), [recordings, identity]),
    against: shown.find(({ id }) => id === view.against) ?? shown[0] ?? null,
    full,
    span: full === null ? nowhere : view.span === null ? full : clampSpan(view.span, full),
  };
}

/** The annotations of each session: their labels align recordings. */
export function useSessionAnnotations(dashboards: readonly Dashboard[]) {
  const ids = [...new Set(dashboards.map(({ sessionId }) => sessionId))];
  return useResource(
    ids.join(),
    async (signal) =>
      new Map(
        await Promise.all(
          ids.map(async (id) => [id, (await listAnnotations(id, signal)).annotations] as const),
        ),
      ),
    { keepWhileLoading: true },
  );
}

/** Points and statistics of the drawn channels: read on each recording's own axis, drawn on the common one. */
export function useValues({ panels, shown, shifts, span, against }: Comparison, differs: boolean) {
  const owners = useMemo(
    () => new Map(shown.flatMap((one) => one.channels.map(({ key }) => [key, one] as const))),
    [shown.map(({ id }) => id).join(), shown[0]],
  );
  const ownOf = (key: string) => {
    const owner = owners.get(key);
    return owner === undefined ? null : ownSpan(owner, shifts.get(owner.id) ?? 0, span);
  };
  const keys = panels
    .flatMap(({ channels }) => channels.map(({ key }) => key))
    .filter((key) => ownOf(key) !== null);
  const dimensionOf = (key: string) => String(owners.get(key)?.dashboardId);
  const spanOf = (key: string) => ownOf(key) ?? nowhere;
  const series = useWindow(points, dimensionOf, keys, spanOf);
  const figures = useWindow(statistics, dimensionOf, keys, spanOf);
  const moved = useRef(new WeakMap<ChannelSeries, { byMs: number; series: ChannelSeries }>());
  const shiftText = [...shifts].join();
  const shifted = useMemo(() => {
    const found = new Map<string, ChannelSeries>();
    for (const [key, own] of series.byKey) {
      const byMs = shifts.get(owners.get(key)?.id ?? '') ?? 0;
      const held = moved.current.get(own);
      const one =
        held?.byMs === byMs
          ? held.series
          : { ...own, times: byMs === 0 ? own.times : own.times.map((time) => time + byMs) };
      moved.current.set(own, { byMs, series: one });
      found.set(key, one);
    }
    return found;
  }, [series.byKey, shiftText, owners]);
  const rowsOf = (key: string) => {
    const known = figures.byKey.get(key);
    return known === undefined ? undefined : known.count + known.missing;
  };
  const differences = useMemo(() => {
    if (!differs || against === null) return { panels: new Map<string, Panel>(), series: shifted };
    const own = panels.flatMap((panel) => {
      const panelOf = differencePanel(panel, against);
      return panelOf === null ? [] : [[panel.id, panelOf] as const];
    });
    return {
      panels: new Map(own),
      series: new Map([...shifted, ...differencesOf(panels, against, shifted, rowsOf)]),
    };
  }, [differs, against, panels, shifted, figures.byKey]);
  return { series, figures, differences, keys };
}

/** The channel of a recording for a measure. */
export const channelFor = (recording: Recording, measure: string) =>
  recording.channels.find((channel) => measureOf(channel) === measure);
