import { useCallback, useMemo, useRef } from 'preact/hooks';
import type { Clock, View } from './address.ts';
import { ChartGroup, type GroupActions } from './chart-group.ts';
import type { TimeSpan } from './model.ts';
import { clampSpan, formatMoment, panSpan, zoomSpan } from './time.ts';

interface Moves extends GroupActions {
  setSpan: (next: TimeSpan, replace: boolean) => void;
}

/** The shared time axis: what moves it, and the charts' common cursor. `full` and `span` are null without rows. */
export function useTimeAxis(settings: {
  dashboardId: number;
  full: TimeSpan | null;
  span: TimeSpan | null;
  isZoomed: boolean;
  clock: Clock;
  originMs: number;
  stepMs: number;
  change: (part: Partial<View>, replace: boolean) => void;
  annotate: (fromMs: number, toMs: number | null) => void;
}) {
  const { full, span, clock, originMs, stepMs, change } = settings;
  const cursorLabel = useRef<HTMLSpanElement>(null);
  const setSpan = (next: TimeSpan, replace: boolean) => {
    if (full === null || span === null) return;
    const clamped = clampSpan(next, full);
    const slack = (clamped.toMs - clamped.fromMs) * 0.002;
    const same =
      Math.abs(clamped.fromMs - span.fromMs) <= slack && Math.abs(clamped.toMs - span.toMs) <= slack;
    if (same) return;
    const whole = clamped.fromMs <= full.fromMs && clamped.toMs >= full.toMs;
    change({ span: whole ? null : clamped }, replace);
  };
  const cursorMoved = useCallback(
    (timeMs: number | null) => {
      if (cursorLabel.current === null) return;
      cursorLabel.current.textContent = timeMs === null ? '' : formatMoment(timeMs, clock, originMs, stepMs);
    },
    [clock, originMs, stepMs],
  );
  const moves: Moves = {
    setSpan,
    cursorMoved,
    reset: () => settings.isZoomed && change({ span: null }, false),
    zoom: (factor, atMs) => {
      if (full !== null && span !== null) setSpan(zoomSpan(span, factor, atMs, full), true);
    },
    pan: (part) => {
      if (full !== null && span !== null) setSpan(panSpan(span, part, full), true);
    },
    mark: (which, timeMs) => change({ [which]: timeMs }, true),
    annotate: settings.annotate,
  };
  const latest = useRef(moves);
  latest.current = moves;
  const group = useMemo(
    () => new ChartGroup(`dashboard-${settings.dashboardId}`, () => latest.current),
    [settings.dashboardId],
  );
  return { moves, group, cursorLabel };
}
