import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import type { Dashboard } from '../api.ts';
import { readDashboard, readSession } from '../api.ts';
import type { Clock, View } from '../dashboard/address.ts';
import { readView, writeView } from '../dashboard/address.ts';
import { ChannelSide } from '../dashboard/channel-side.tsx';
import { Chart } from '../dashboard/chart.tsx';
import { ChartGroup } from '../dashboard/chart-group.ts';
import { MachineChoice, MachineGrid } from '../dashboard/machine-grid.tsx';
import {
  dashboardsByOutput,
  firstMachines,
  machineNamer,
  machineRows,
  machinesOf,
  measuresOf,
  mergeDashboards,
  namesakesOn,
  outputOf,
  withNamesakes,
} from '../dashboard/machines.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import { channelsOf, firstChoice, fullSpan, panelsFor, sourceName, timeKinds } from '../dashboard/model.ts';
import { useSeries } from '../dashboard/series.ts';
import { clampSpan, formatMoment, panSpan, zoomSpan } from '../dashboard/time.ts';
import { Toolbar } from '../dashboard/toolbar.tsx';
import { formatCount } from '../format.ts';
import { useDarkScheme, useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import '../styles/dashboard.css';

/** A dashboard: its channels as curves over one time axis. The address holds all choices. */
export function DashboardPage(props: { dimensionId: string }) {
  const { dimensionId } = props;
  const { query } = useAddress();
  const { beside } = readView(query);
  const dashboard = useResource(dimensionId, (signal) => readDashboard(dimensionId, signal));
  const others = useResource(
    beside.join(','),
    (signal) => Promise.all(beside.map((id) => readDashboard(id, signal))),
    { keepWhileLoading: true },
  );
  useTitle(dashboard.data?.title ?? 'Dashboard');
  if (dashboard.error instanceof ApiError && dashboard.error.status === 404) {
    return (
      <Empty title="There is no such dashboard">
        <p>
          Its session may have been deleted, or the address may be mistyped. <a href="/">Sessions</a>
        </p>
      </Empty>
    );
  }
  return (
    <div class="page page-dashboard">
      {dashboard.error !== null && (
        <Failure what="The dashboard could not be read." error={dashboard.error} retry={dashboard.reload} />
      )}
      {dashboard.data === null && dashboard.error === null && (
        <Placeholder rows={4} label="Loading the dashboard" />
      )}
      {dashboard.data !== null && (
        <>
          <DashboardHead dashboard={dashboard.data} />
          {others.error !== null && (
            <Failure
              what="A dashboard beside this one could not be read."
              error={others.error}
              retry={others.reload}
            />
          )}
          {others.data === null && others.error === null ? (
            <Placeholder rows={3} label="Loading the dashboards beside it" />
          ) : (
            <DashboardBody
              first={dashboard.data}
              beside={others.data ?? []}
              reload={() => {
                dashboard.reload();
                others.reload();
              }}
            />
          )}
        </>
      )}
    </div>
  );
}

function DashboardHead(props: { dashboard: Dashboard }) {
  const { dashboard } = props;
  const rows = dashboard.sources.reduce((sum, source) => sum + source.rowCount, 0);
  const files = dashboard.sources.length;
  const facts = [
    dashboard.scenarioName,
    `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`,
    dashboard.sources.length === 1
      ? sourceName(dashboard.sources[0]!, null)
      : `${formatCount(files)} recordings`,
  ];
  return (
    <header class="dashboard-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/sessions">Sessions</a>
        <span aria-hidden="true"> / </span>
        <a href={`/sessions/${dashboard.sessionId}`}>{dashboard.sessionName}</a>
      </nav>
      <h1>{dashboard.title}</h1>
      <p class="faint meta">
        {facts
          .filter((fact) => fact !== null && fact !== '')
          .map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
      </p>
    </header>
  );
}

function DashboardBody(props: { first: Dashboard; beside: readonly Dashboard[]; reload: () => void }) {
  const { first, beside } = props;
  const dashboard = useMemo(() => mergeDashboards(first, beside), [first, beside]);
  const byOutput = useMemo(() => dashboardsByOutput([first, ...beside]), [first, beside]);
  const { path, query } = useAddress();
  const dark = useDarkScheme();
  const view = readView(query);
  const kinds = timeKinds(dashboard);
  const kind = view.kind !== null && kinds.includes(view.kind) ? view.kind : (kinds[0] ?? 'absolute');
  const all = useMemo(() => channelsOf(dashboard), [dashboard]);
  const channels = useMemo(() => all.filter((channel) => channel.timeKind === kind), [all, kind]);
  const full = useMemo(() => fullSpan(dashboard, kind), [dashboard, kind]);
  const suggested = useMemo(() => firstChoice(dashboard, channels, kind), [dashboard, channels, kind]);

  const offered = new Set(channels.map((channel) => channel.key));
  const machineOf = useMemo(() => machineNamer(channels, byOutput), [channels, byOutput]);
  const machines = useMemo(() => machinesOf(channels, machineOf), [channels, machineOf]);
  const session = useResource(first.sessionId, (signal) => readSession(first.sessionId, signal));
  const shownIds = new Set([first, ...beside].map(({ id }) => String(id)));
  const others = session.data?.dimensions.filter(({ id }) => !shownIds.has(String(id))) ?? [];
  const sideBySide = view.sideBySide || beside.length > 0;
  const shown = new Set(view.machines ?? machines.slice(0, firstMachines).map(({ id }) => id));
  const chosen = (view.channels ?? suggested).filter((key) => offered.has(key));
  const keys = sideBySide
    ? namesakesOn(channels, chosen, (channel) => shown.has(machineOf(channel).id))
    : chosen;
  // Side by side, a measure is chosen once for all machines.
  const offeredChannels = sideBySide ? measuresOf(channels) : channels;
  const listed = new Set(sideBySide ? withNamesakes(channels, chosen) : keys);
  const keysText = keys.join('\n');
  const panels = useMemo(
    () => panelsFor(dashboard, channels, new Set(keys)),
    [dashboard, channels, keysText],
  );
  const span = full === null || view.span === null ? full : clampSpan(view.span, full);
  const series = useSeries((key) => String(byOutput.get(outputOf(key))?.id ?? first.id), keys, span);

  const clock: Clock = kind === 'relative' ? 'elapsed' : view.clock;
  const originMs = clock !== 'elapsed' || kind === 'relative' ? 0 : (full?.fromMs ?? 0);
  const cursorLabel = useRef<HTMLSpanElement>(null);
  const [spoken, setSpoken] = useState('');

  const change = (part: Partial<View>, replace: boolean) =>
    navigate(path + writeView({ ...view, ...part }), { replace });
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
  const reset = () => view.span !== null && change({ span: null }, false);
  const zoom = (factor: number, atMs?: number) => {
    if (full === null || span === null) return;
    setSpan(zoomSpan(span, factor, atMs ?? (span.fromMs + span.toMs) / 2, full), true);
  };
  const pan = (part: number) => full !== null && span !== null && setSpan(panSpan(span, part, full), true);
  const showCursor = useCallback(
    (timeMs: number | null) => {
      if (cursorLabel.current === null || span === null) return;
      cursorLabel.current.textContent =
        timeMs === null ? '' : formatMoment(timeMs, clock, originMs, span.toMs - span.fromMs);
    },
    [clock, originMs, span?.fromMs, span?.toMs],
  );

  const actions = useRef({ cursorMoved: showCursor, zoom, pan, reset });
  actions.current = { cursorMoved: showCursor, zoom, pan, reset };
  const group = useMemo(
    () => new ChartGroup(`dashboard-${dashboard.id}`, () => actions.current),
    [dashboard.id],
  );

  if (full === null || span === null) {
    return (
      <Empty title="There is nothing to draw yet">
        <p>None of this dashboard's recordings holds a row.</p>
        <button type="button" class="button" onClick={props.reload}>
          Refresh
        </button>
      </Empty>
    );
  }
  const shownMachines = machines.filter(({ id }) => shown.has(id));
  const removed = (key: string) => {
    const measure = sideBySide ? withNamesakes(channels, [key]) : [key];
    change({ channels: chosen.filter((other) => !measure.includes(other)) }, true);
  };
  const world = {
    series: series.byKey,
    span,
    originMs,
    clock,
    dark,
    group,
    busy: series.loading,
    onZoom: (next: TimeSpan) => setSpan(next, false),
    onReset: reset,
    onRemove: removed,
    onSpeak: setSpoken,
  };
  return (
    <div class="dashboard-body">
      <ChannelSide
        channels={offeredChannels}
        keys={offeredChannels.map(({ key }) => key).filter((key) => listed.has(key))}
        onChange={(next) => change({ channels: next }, true)}
      />
      <div class="charts">
        <Toolbar
          span={span}
          full={full}
          originMs={originMs}
          clock={clock}
          kind={kind}
          kinds={kinds}
          busy={series.loading}
          zoomed={view.span !== null}
          cursorLabel={cursorLabel}
          onZoom={(factor) => zoom(factor)}
          onPan={pan}
          onReset={reset}
          onClock={(next) => change({ clock: next }, true)}
          onKind={(next) => change({ kind: next, span: null }, false)}
          sideBySide={machines.length + others.length < 2 && !sideBySide ? null : sideBySide}
          onSideBySide={(next) => change({ sideBySide: next, machines: null, beside: [] }, false)}
        />
        {series.error !== null && (
          <Failure what="The values could not be read." error={series.error} retry={series.retry} />
        )}
        {sideBySide && (
          <>
            <MachineChoice
              machines={machines}
              chosen={shown}
              onChosen={(ids) => change({ machines: ids }, true)}
              others={others}
              dashboards={[...shownIds]}
              onDashboards={(ids) => change({ beside: ids, sideBySide: true, machines: null }, false)}
            />
            <MachineGrid
              rows={machineRows(panels, shownMachines, machineOf)}
              machines={shownMachines}
              world={world}
            />
          </>
        )}
        {!sideBySide && panels.length === 0 && <Empty title="Choose a channel to draw it" />}
        {!sideBySide && panels.map((panel) => <Chart key={panel.id} {...world} panel={panel} />)}
        <p class="faint chart-help">
          Drag across a chart to zoom, double-click to see everything, hold Ctrl and turn the wheel to zoom at
          the pointer. On a focused chart: arrow keys, Shift and arrow keys, plus, minus, Escape.
        </p>
        <div class="visually-hidden" role="status" aria-live="polite">
          {spoken}
        </div>
      </div>
    </div>
  );
}
