import { useState } from 'preact/hooks';
import type { Annotation, Dashboard } from '../api.ts';
import type { Clock, View } from '../dashboard/address.ts';
import { ChannelSide } from '../dashboard/channel-side.tsx';
import { Chart } from '../dashboard/chart/chart.tsx';
import { MarkBar } from '../dashboard/mark-bar.tsx';
import { type TimeAxis, useTimeAxis } from '../dashboard/time-axis.ts';
import { Toolbar } from '../dashboard/toolbar.tsx';
import { Unread } from '../dashboard/unread.tsx';
import { useDarkScheme } from '../hooks.ts';
import { Empty, Failure } from '../ui/notice.tsx';
import { AddSession } from './add-session.tsx';
import { type CompareView, dashboardsOf, withDashboard, withoutDashboard } from './address.ts';
import type { Anchors, StepStarts } from './alignment.ts';
import { type Comparison, useComparison, useRecordings, useValues } from './choice.ts';
import { measureOf, type Recording } from './model.ts';
import { Recordings } from './recordings.tsx';
import { StatisticsTable } from './statistics.tsx';
import { useStepStarts } from './step-starts.ts';
import { CompareTools } from './tools.tsx';
import { WhatDiffers } from './what-differs.tsx';

type Change = (part: Partial<CompareView>, replace?: boolean) => void;

const noStarts: StepStarts = new Map();
const noAnnotations: readonly Annotation[] = [];
const nothing: ReadonlyMap<string, never> = new Map<string, never>();

interface BodyProps {
  dashboards: readonly Dashboard[];
  view: CompareView;
  annotations: ReadonlyMap<string, readonly Annotation[]>;
  change: Change;
}

/** Recordings of several sessions over one axis: chips, channels, charts, statistics. */
export function CompareBody(props: BodyProps) {
  const { view, change } = props;
  const steps = useStepStarts(useRecordings(props.dashboards, view), view.align);
  const anchors = { annotations: props.annotations, starts: steps.data ?? noStarts };
  const comparison = useComparison(props.dashboards, view, anchors);
  const { full } = comparison;
  const differs = (
    <WhatDiffers
      dashboards={props.dashboards}
      recordings={comparison.recordings}
      isOpen={view.differs}
      onOpen={(isOpen) => change({ differs: isOpen })}
    />
  );
  if (full === null) {
    return (
      <>
        <Empty title="No data yet">
          <p>The dashboards of these sessions have no rows.</p>
        </Empty>
        {differs}
      </>
    );
  }
  return (
    <>
      <Compared
        comparison={comparison}
        view={view}
        anchors={anchors}
        isSearching={steps.loading && steps.error === null}
        change={change}
      />
      {steps.error !== null && (
        <Failure what="The values to align at could not be read." error={steps.error} retry={steps.reload} />
      )}
      {differs}
      <Axis key={view.align.by} comparison={{ ...comparison, full }} view={view} change={change} />
    </>
  );
}

/** The recordings, how they lie over each other, and what adds others. */
function Compared(props: {
  comparison: Comparison;
  view: CompareView;
  anchors: Anchors;
  /** The values to align at are not read yet. */
  isSearching: boolean;
  change: Change;
}) {
  const { view, change } = props;
  const { recordings, shown, against, span } = props.comparison;
  return (
    <section class="card compare-head" aria-label="What is compared">
      <Recordings
        recordings={recordings}
        shown={shown}
        offsets={view.offsets}
        span={span}
        onHidden={(hidden) => change({ hidden })}
        onOffset={(id, ms) => change({ offsets: withOffset(view.offsets, id, ms) })}
        onRemove={(id) => change(removed(view, recordings, id), false)}
      />
      <div class="compare-row">
        <CompareTools
          view={view}
          recordings={recordings}
          shown={shown}
          against={against}
          anchors={props.anchors}
          isSearching={props.isSearching}
          change={change}
        />
        <AddSession
          shown={dashboardsOf(view.places)}
          onAdd={(id) => change({ places: withDashboard(view.places, id) }, false)}
        />
      </div>
    </section>
  );
}

function withOffset(offsets: CompareView['offsets'], id: string, ms: number): CompareView['offsets'] {
  const next = new Map(offsets);
  if (ms === 0) next.delete(id);
  else next.set(id, ms);
  return next;
}

function removed(view: CompareView, recordings: readonly Recording[], id: number): Partial<CompareView> {
  const colours = recordings.filter(({ dashboardId }) => dashboardId === id).length;
  return { places: withoutDashboard(view.places, id, Math.max(1, colours)), span: null };
}

interface AxisProps {
  comparison: Comparison & { full: NonNullable<Comparison['full']> };
  view: CompareView;
  change: Change;
}

function Axis(props: AxisProps) {
  const { comparison, view, change } = props;
  const { measures, span } = comparison;
  const values = useValues(comparison, view.difference);
  const [spoken, setSpoken] = useState('');
  const axis = useTimeAxis(axisOf(props), {
    dashboardId: 0,
    annotate: () => setSpoken('Annotations are made on the dashboard of one session.'),
  });
  return (
    <div class="dashboard-body">
      <ChannelSide
        channels={comparison.offered}
        keys={measures}
        drawn={[]}
        statistics={nothing}
        onJump={() => undefined}
        onChange={(channels) => change({ channels })}
      />
      <div class="charts">
        <Toolbar
          axis={axis}
          busy={values.series.loading}
          kind={view.align.by === 'clock' ? 'absolute' : 'relative'}
          kinds={[]}
          sideBySide={null}
        />
        <MarkBar axis={axis} marks={view} onAnnotate={null} />
        <Unread values={values.series} statistics={values.figures} />
        {view.statistics && (
          <StatisticsTable
            comparison={comparison}
            figures={values.figures.byKey}
            onJump={(timeMs) => {
              change({ a: timeMs });
              axis.group.moveCursor(timeMs, span);
            }}
          />
        )}
        <Charts {...props} values={values} axis={axis} onSpeak={setSpoken} />
        <div class="visually-hidden" role="status" aria-live="polite">
          {spoken}
        </div>
      </div>
    </div>
  );
}

/** A chart for each measure, and below it the differences of its recordings where they are shown. */
function Charts(
  props: AxisProps & {
    values: ReturnType<typeof useValues>;
    axis: TimeAxis;
    onSpeak: (sentence: string) => void;
  },
) {
  const { comparison, view, change, values, axis } = props;
  const { measures, panels, span } = comparison;
  const dark = useDarkScheme();
  const drawn = panels.flatMap((panel) => [panel, ...(differenceOf(values, panel.id) ?? [])]);
  if (drawn.length === 0) return <Empty title="Choose a channel to draw it" />;
  return (
    <>
      {drawn.map((panel) => (
        <Chart
          key={panel.id}
          panel={panel}
          series={values.differences.series}
          span={span}
          originMs={axis.originMs}
          clock={axis.clock}
          dark={dark}
          group={axis.group}
          busy={values.series.loading}
          marks={view}
          annotations={noAnnotations}
          onZoom={(next) => axis.moves.setSpan(next, false)}
          onReset={axis.moves.reset}
          onSpeak={props.onSpeak}
          onRemove={(key) => {
            const channel = panel.channels.find((one) => one.key === key);
            if (channel === undefined) return;
            if (!panels.includes(panel)) change({ difference: false });
            else change({ channels: measures.filter((measure) => measure !== measureOf(channel)) });
          }}
        />
      ))}
    </>
  );
}

function axisOf({ comparison, view, change }: AxisProps) {
  const { full, span, panels, recordings, shown } = comparison;
  const isClock = view.align.by === 'clock';
  const hasRows = (shown.length > 0 ? shown : recordings).every((one) => one.hasRowNumbers);
  const relative = hasRows ? 'rows' : 'elapsed';
  const clock: Clock = isClock ? view.clock : relative;
  const steps = panels.flatMap(({ channels }) => channels.map(({ stepMs }) => stepMs));
  return {
    full,
    span,
    isZoomed: view.span !== null,
    clock,
    originMs: isClock && clock === 'elapsed' ? full.fromMs : 0,
    stepMs: Math.min(1000, ...steps),
    change: (part: Partial<View>, replace: boolean) => change(sharedPart(part), replace),
  };
}

/** What a comparison has of the view of a dashboard. */
function sharedPart({ span, a, b, clock }: Partial<View>): Partial<CompareView> {
  return {
    ...(span === undefined ? {} : { span }),
    ...(a === undefined ? {} : { a }),
    ...(b === undefined ? {} : { b }),
    ...(clock === undefined ? {} : { clock }),
  };
}

function differenceOf({ differences }: ReturnType<typeof useValues>, panelId: string) {
  const panel = differences.panels.get(panelId);
  return panel === undefined ? null : [panel];
}
