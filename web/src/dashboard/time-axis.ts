import type { RefObject } from 'preact';
import { useCallback, useMemo, useRef } from 'preact/hooks';
import type { Clock, View } from './address.ts';
import { ChartGroup, type GroupActions } from './chart/group.ts';
import type { TimeSpan } from './model.ts';
import { clampSpan, formatMoment, panSpan, zoomSpan } from './time.ts';

interface Moves extends GroupActions {
  setSpan: (next: TimeSpan, replace: boolean) => void;
}

/** What is shown of the common axis, and how its times are written. */
interface Axis {
  readonly full: TimeSpan;
  readonly span: TimeSpan;
  readonly isZoomed: boolean;
  readonly clock: Clock;
  /** Subtracted from every time on the axis; 0 for clock times. */
  readonly originMs: number;
  /** Between two samples, at most a second: how finely moments are written. */
  readonly stepMs: number;
  readonly change: (part: Partial<View>, replace: boolean) => void;
}

export interface TimeAxis extends Axis {
  readonly moves: Moves;
  readonly group: ChartGroup;
  readonly cursorLabel: RefObject<HTMLSpanElement | null>;
  /** A moment as this axis writes it. */
  readonly format: (timeMs: number) => string;
}

/** The shared time axis: what moves it, and the charts' common cursor. */
export function useTimeAxis(
  axis: Axis,
  settings: { dashboardId: number; annotate: (fromMs: number, toMs: number | null) => void },
): TimeAxis {
  const { full, span, clock, originMs, stepMs, change } = axis;
  const cursorLabel = useRef<HTMLSpanElement>(null);
  const setSpan = (next: TimeSpan, replace: boolean) => {
    const clamped = clampSpan(next, full);
    const slack = (clamped.toMs - clamped.fromMs) * 0.002;
    const same =
      Math.abs(clamped.fromMs - span.fromMs) <= slack && Math.abs(clamped.toMs - span.toMs) <= slack;
    if (same) return;
    const whole = clamped.fromMs <= full.fromMs && clamped.toMs >= full.toMs;
    change({ span: whole ? null : clamped }, replace);
  };
  const format = useCallback(
    (timeMs: number) => formatMoment(timeMs, clock, originMs, stepMs),
    [clock, originMs, stepMs],
  );
  const cursorMoved = useCallback(
    (timeMs: number | null) => {
      if (cursorLabel.current !== null)
        cursorLabel.current.textContent = timeMs === null ? '' : format(timeMs);
    },
    [format],
  );
  const moves: Moves = {
    setSpan,
    cursorMoved,
    reset: () => axis.isZoomed && change({ span: null }, false),
    zoom: (factor, atMs) => setSpan(zoomSpan(span, factor, atMs, full), true),
    pan: (part) => setSpan(panSpan(span, part, full), true),
    mark: (which, timeMs) => change({ [which]: timeMs }, true),
    annotate: settings.annotate,
  };
  const latest = useRef(moves);
  latest.current = moves;
  const group = useMemo(
    () => new ChartGroup(`dashboard-${settings.dashboardId}`, () => latest.current),
    [settings.dashboardId],
  );
  return { ...axis, moves, group, cursorLabel, format };
}
