import { useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Panel } from '../model.ts';
import { legendName } from '../model.ts';
import { stateWords, type Words } from './curve.ts';
import { alignCurves, showValues, spokenValues } from './data.ts';
import { ChartHead, type ValueScale } from './head.tsx';
import { type Plot, usePlot } from './plot.ts';
import type { ChartProps } from './props.ts';

const curvesHeight = 210;
const stripHeight = 32;
const axisHeight = 46;
const followsData: ValueScale = { logarithmic: false, held: null };

/** One panel: its legend with the values at the cursor, and its curves. */
export function Chart(props: ChartProps) {
  const { panel } = props;
  const lead = props.lead === undefined ? '' : `${props.lead}: `;
  const described = `${lead}${describe(panel)}${props.place ?? ''}`;
  const values = useRef(new Map<string, HTMLElement>());
  const words = useRef<Words>([]);
  const [scale, setScale] = useState(followsData);
  const { logarithmic, held } = scale;
  const curves = panel.channels.map((channel) => props.series.get(channel.key));
  const data = useMemo(
    () => alignCurves(curves, words.current, props.originMs, logarithmic),
    [...curves, curves.length, props.originMs, logarithmic],
  );
  const height = heightOf(props);
  const drawn = usePlot({
    chart: props,
    data,
    height,
    scale,
    words: () => stateWords(panel.channels, words.current),
    onCursor: (timeMs) => showValues(values.current, props, timeMs),
    onHold: (range) => setScale((before) => ({ ...before, held: range })),
  });

  return (
    <section class="chart" aria-label={described} aria-busy={props.busy}>
      <ChartHead
        panel={panel}
        spoken={described}
        lead={props.lead}
        series={props.series}
        marks={props.marks}
        scale={scale}
        onLog={() => setScale({ logarithmic: !logarithmic, held: null })}
        onLock={() => setScale({ logarithmic, held: held === null ? drawn.shownRange() : null })}
        onFocus={(index) => drawn.plot.current?.setSeries(index === null ? null : index + 1, { focus: true })}
        onRemove={props.onRemove}
        valueElement={(key, element) => {
          if (element === null) values.current.delete(key);
          else values.current.set(key, element);
        }}
      />
      <Curves {...drawn} chart={props} height={height} label={described} data={data} />
      {curves.every((curve) => curve !== undefined && curve.times.length === 0) && (
        <p class="chart-none">No values in this range.</p>
      )}
    </section>
  );
}

/** The place that the curves are drawn into, and that takes their keys. */
function Curves(
  props: Plot & {
    chart: ChartProps;
    /** In pixels. */
    height: number;
    label: string;
    data: uPlot.AlignedData;
  },
) {
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys, so it must be reachable by them
      tabIndex={0}
      class="chart-plot"
      style={{ minHeight: `${props.height}px` }}
      ref={props.frame}
      role="application"
      aria-roledescription="chart"
      aria-label={`Curves of ${props.label}. Arrow keys move the cursor, plus and minus zoom, A and B put cursors, M annotates, Escape shows everything.`}
      data-points={props.data[0]?.length ?? 0}
      onKeyDown={(event) => pressed(event, props.chart, props.zoomValues)}
    />
  );
}

/** A key on the curves: Shift and an arrow zoom the values, all others are those of the group. */
function pressed(event: KeyboardEvent, props: ChartProps, zoomValues: Plot['zoomValues']): void {
  if (event.shiftKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    event.preventDefault();
    zoomValues(event.key === 'ArrowUp' ? 0.8 : 1.25, null);
    return;
  }
  const { group } = props;
  if (group.key(event, props.span) && group.cursorMs !== null) {
    props.onSpeak(spokenValues(props, group.cursorMs));
  }
}

/** In pixels. */
function heightOf({ panel, height = curvesHeight }: ChartProps): number {
  const hasCurves = panel.channels.some(({ kind }) => kind === 'number');
  return hasCurves ? height : axisHeight + stripHeight * panel.channels.length;
}

function describe(panel: Panel): string {
  const names = panel.channels.map((channel) => legendName(channel, panel.channels)).join(', ');
  return panel.unit === '' ? names : `${names} in ${panel.unit}`;
}
