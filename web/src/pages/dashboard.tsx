import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { Dashboard } from '../api.ts';
import { readDashboard } from '../api.ts';
import type { Clock, View } from '../dashboard/address.ts';
import { readView, writeView } from '../dashboard/address.ts';
import { ChannelList } from '../dashboard/channel-list.tsx';
import { Chart } from '../dashboard/chart.tsx';
import { ChartGroup } from '../dashboard/chart-group.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import { channelsOf, firstChoice, fullSpan, panelsFor, sourceName, timeKinds } from '../dashboard/model.ts';
import { useSeries } from '../dashboard/series.ts';
import { clampSpan, formatMoment, panSpan, zoomSpan } from '../dashboard/time.ts';
import { Toolbar } from '../dashboard/toolbar.tsx';
import { formatCount } from '../format.ts';
import { useDarkScheme, useResource, useTitle } from '../hooks.ts';
import { ApiError } from '../http.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import '../styles/dashboard.css';

/** A dashboard: its channels as curves over one time axis. All that one chooses stands in the address. */
export function DashboardPage(props: { dimensionId: string }) {
  const { dimensionId } = props;
  const dashboard = useResource(dimensionId, (signal) => readDashboard(dimensionId, signal));
  useTitle(dashboard.data?.title ?? 'Dashboard');
  if (dashboard.error instanceof ApiError && dashboard.error.status === 404) {
    return (
      <Empty title="There is no such dashboard">
        <p>
          Its session may have been deleted, or the address may be mistyped. <a href="/">All sessions</a>
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
          <DashboardBody dashboard={dashboard.data} reload={dashboard.reload} />
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

function DashboardBody(props: { dashboard: Dashboard; reload: () => void }) {
  const { dashboard } = props;
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
  const keys = (view.channels ?? suggested).filter((key) => offered.has(key));
  const keysText = keys.join('\n');
  const panels = useMemo(
    () => panelsFor(dashboard, channels, new Set(keys)),
    [dashboard, channels, keysText],
  );
  const span = full === null || view.span === null ? full : clampSpan(view.span, full);
  const series = useSeries(String(dashboard.id), keys, span);

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
          Look again
        </button>
      </Empty>
    );
  }
  return (
    <div class="dashboard-body">
      <ChannelSide channels={channels} keys={keys} onChange={(next) => change({ channels: next }, true)} />
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
        />
        {series.error !== null && (
          <Failure what="The values could not be read." error={series.error} retry={series.retry} />
        )}
        {panels.length === 0 && <Empty title="Choose a channel to draw it" />}
        {panels.map((panel) => (
          <Chart
            key={panel.id}
            panel={panel}
            series={series.byKey}
            span={span}
            originMs={originMs}
            clock={clock}
            dark={dark}
            group={group}
            busy={series.loading}
            onZoom={(next) => setSpan(next, false)}
            onReset={reset}
            onRemove={(key) => change({ channels: keys.filter((other) => other !== key) }, true)}
            onSpeak={setSpoken}
          />
        ))}
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

/** The list of channels: beside the charts where there is room, else behind a button above them. */
function ChannelSide(props: {
  channels: ReturnType<typeof channelsOf>;
  keys: string[];
  onChange: (keys: string[]) => void;
}) {
  const [open, setOpen] = useState(false);
  const order = new Map(props.channels.map((channel, index) => [channel.key, index]));
  return (
    <aside class={open ? 'side side-open' : 'side'} aria-label="Channels">
      <button type="button" class="button side-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'Hide channels' : `Choose channels (${props.keys.length} of ${props.channels.length})`}
      </button>
      <ChannelList
        channels={props.channels}
        chosen={new Set(props.keys)}
        onChange={(chosen) =>
          props.onChange([...chosen].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)))
        }
      />
    </aside>
  );
}
