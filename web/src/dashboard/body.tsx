import { useMemo, useState } from 'preact/hooks';
import type { Annotation, Dashboard } from '../api.ts';
import { useDarkScheme } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { lazy } from '../ui/lazy.tsx';
import { Empty } from '../ui/notice.tsx';
import type { Clock, View } from './address.ts';
import { noLayout, readView, writeView } from './address.ts';
import { AnnotationList } from './annotation-list.tsx';
import { newDraft, spanAround, useAnnotations } from './annotations.ts';
import { ChannelSide } from './channel-side.tsx';
import { Chart } from './chart/chart.tsx';
import type { World } from './chart/props.ts';
import { type Choice, useChoice } from './choice.ts';
import { MachineChoice, MachineGrid } from './machine-grid.tsx';
import { machineRows, withNamesakes } from './machines.ts';
import { MarkBar } from './mark-bar.tsx';
import type { Channel, TimeSpan } from './model.ts';
import type { Drawn } from './panels/model.ts';
import { SaveMenu } from './saving/save-menu.tsx';
import { useSeries, useStatistics } from './series.ts';
import { clampSpan } from './time.ts';
import { useTimeAxis } from './time-axis.ts';
import { Toolbar } from './toolbar.tsx';
import { Unread } from './unread.tsx';

const noKeys: readonly string[] = [];
const PanelArea = lazy(() => import('./panels/area.tsx').then(({ PanelArea: area }) => area), null);

/** The list of channels, the time axis and the charts. The address holds all choices. */
export function DashboardBody(props: { first: Dashboard; beside: readonly Dashboard[]; reload: () => void }) {
  const { path, query } = useAddress();
  const view = readView(query);
  const choice = useChoice(props.first, props.beside, view);
  const { full } = choice;
  const change = (part: Partial<View>, replace: boolean) =>
    navigate(path + writeView({ ...view, ...part }), { replace });
  if (full === null) {
    return (
      <Empty title="No data yet">
        <p>The recordings of this dashboard have no rows.</p>
        <button type="button" class="button" onClick={props.reload}>
          Refresh
        </button>
      </Empty>
    );
  }
  return <Axis first={props.first} view={view} choice={choice} full={full} change={change} />;
}

interface AxisProps {
  first: Dashboard;
  view: View;
  choice: Choice;
  full: TimeSpan;
  change: (part: Partial<View>, replace: boolean) => void;
}

function Axis(props: AxisProps) {
  const { first, view, choice, full, change } = props;
  const [arranged, setArranged] = useState<Drawn>({ keys: noKeys, derived: [] });
  const isArranged = view.layout !== null && view.layout !== noLayout;
  const shown = useShown(props, isArranged);
  const { span, drawn, series, statistics, notes, axis } = shown;
  const world = worldOf(view, shown);
  return (
    <div class="dashboard-body">
      <ChannelSide
        channels={choice.offered}
        keys={choice.listed}
        drawn={drawn}
        statistics={statistics.byKey}
        onChange={(next) => change({ channels: next }, true)}
        onJump={(timeMs) => {
          change({ a: timeMs }, true);
          axis.group.moveCursor(timeMs, span);
        }}
      />
      <div class="charts">
        <Tools {...props} shown={shown} saved={isArranged ? arranged : { keys: choice.keys, derived: [] }} />
        <MarkBar axis={axis} marks={view} onAnnotate={shown.annotate} />
        <Unread values={series} statistics={statistics} />
        <PanelArea
          dashboard={first}
          channels={choice.channels}
          drawn={choice.panels}
          link={view.layout}
          hasChannels={view.channels !== null}
          onLink={(link, replaces) => change({ layout: link }, replaces)}
          onDrawn={setArranged}
          world={world}
        />
        {!isArranged && <Charts choice={choice} change={change} world={world} />}
        <AnnotationList
          sessionId={first.sessionId}
          state={notes}
          format={axis.format}
          onGo={(annotation) => change(withAnnotation(annotation, span, full), false)}
        />
      </div>
    </div>
  );
}

/** The time that is shown, and what is read of it: values, statistics, annotations. */
function useShown(props: AxisProps, isArranged: boolean) {
  const { first, view, choice, full } = props;
  const { keys, channels, dimensionOf } = choice;
  const span = view.span === null ? full : clampSpan(view.span, full);
  // The panels of a layout read their values themselves.
  const series = useSeries(dimensionOf, isArranged ? noKeys : keys, span);
  const statistics = useStatistics(dimensionOf, keys, span);
  const drawn = useMemo(() => {
    const shown = new Set(keys);
    return channels.filter(({ key }) => shown.has(key));
  }, [channels, keys]);
  const all = useAnnotations(first.sessionId);
  const { kind, kindOfTime } = choice;
  const annotations = useMemo(
    () => all.annotations.filter(({ from }) => kindOfTime(Date.parse(from)) === kind),
    [all.annotations, kindOfTime, kind],
  );
  const notes = { ...all, annotations };
  const annotate = (fromMs: number, toMs: number | null) => notes.setDraft(newDraft(fromMs, toMs));
  const axis = useTimeAxis(axisOf(props, span, drawn), { dashboardId: first.id, annotate });
  return { span, drawn, series, statistics, notes, annotate, axis };
}

type Shown = ReturnType<typeof useShown>;

/** What all charts share. */
const worldOf = (view: View, { span, series, notes, axis }: Shown): World => ({
  series: series.byKey,
  span,
  originMs: axis.originMs,
  clock: axis.clock,
  group: axis.group,
  busy: series.loading,
  marks: view,
  annotations: notes.annotations,
  onZoom: (next) => axis.moves.setSpan(next, false),
  onReset: axis.moves.reset,
});

/** The controls of the time axis, and what saves the drawn channels. */
function Tools({ first, choice, shown, saved }: AxisProps & { shown: Shown; saved: Drawn }) {
  const hasMachines = choice.machines.length + choice.others.length >= 2 || choice.sideBySide;
  return (
    <Toolbar
      axis={shown.axis}
      busy={shown.series.loading}
      kind={choice.kind}
      kinds={choice.kinds}
      sideBySide={hasMachines ? choice.sideBySide : null}
    >
      <SaveMenu
        name={first.sessionName}
        keys={saved.keys}
        derived={saved.derived}
        derivedOf={String(first.id)}
        dimensionOf={choice.dimensionOf}
        span={shown.span}
      />
    </Toolbar>
  );
}

function axisOf({ view, choice, full, change }: AxisProps, span: TimeSpan, drawn: readonly Channel[]) {
  const isRelative = choice.kind === 'relative';
  const relative = choice.hasRowNumbers ? 'rows' : 'elapsed';
  const clock: Clock = isRelative ? relative : view.clock;
  return {
    full,
    span,
    isZoomed: view.span !== null,
    clock,
    originMs: clock !== 'elapsed' || isRelative ? 0 : full.fromMs,
    stepMs: Math.min(1000, ...drawn.map((channel) => channel.stepMs)),
    change,
  };
}

/** The cursors at an annotation, and a span around it when it is not in sight. */
function withAnnotation(annotation: Annotation, span: TimeSpan, full: TimeSpan): Partial<View> {
  const { from, to } = annotation;
  const away = spanAround(annotation, span);
  return {
    a: Date.parse(from),
    b: to === null ? null : Date.parse(to),
    ...(away === null ? {} : { span: clampSpan(away, full) }),
  };
}

function Charts(props: {
  choice: Choice;
  change: (part: Partial<View>, replace: boolean) => void;
  world: World;
}) {
  const { choice, change } = props;
  const { channels, panels, machines, shownMachines, sideBySide } = choice;
  const dark = useDarkScheme();
  const [spoken, setSpoken] = useState('');
  const world = {
    ...props.world,
    dark,
    onSpeak: setSpoken,
    onRemove: (key: string) => {
      const measure = machines.length > 1 ? withNamesakes(channels, [key]) : [key];
      change({ channels: choice.chosen.filter((other) => !measure.includes(other)) }, true);
    },
  };
  return (
    <>
      {(sideBySide || machines.length > 1) && (
        <MachineChoice
          machines={machines}
          chosen={new Set(shownMachines.map(({ id }) => id))}
          onChosen={(ids) => change({ machines: ids }, true)}
          others={choice.others}
          dashboards={choice.dashboardIds}
          onDashboards={(ids) => change({ beside: ids, sideBySide: true, machines: null }, false)}
        />
      )}
      {sideBySide && (
        <MachineGrid
          rows={machineRows(panels, shownMachines, choice.machineOf)}
          machines={shownMachines}
          world={world}
        />
      )}
      {!sideBySide && panels.length === 0 && <Empty title="Choose a channel to draw it" />}
      {!sideBySide && panels.map((panel) => <Chart key={panel.id} {...world} panel={panel} />)}
      <div class="visually-hidden" role="status" aria-live="polite">
        {spoken}
      </div>
    </>
  );
}
