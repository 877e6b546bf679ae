import type { ChannelSeries } from '../../api.ts';
import { type Marks, markedValues } from '../marks.ts';
import type { Channel, Panel } from '../model.ts';
import { legendName } from '../model.ts';

const colours = 8;
/** When the colours run out, curves differ by their dashes. */
const dashes = [[], [8, 4], [2, 4], [12, 4, 2, 4]];

/** How a person holds the value axis. */
export interface ValueScale {
  logarithmic: boolean;
  /** Null: it follows the data. */
  held: { min: number; max: number } | null;
}

interface HeadProps {
  panel: Panel;
  /** What the panel is called where it is not seen: tools of several panels have the same words. */
  spoken: string;
  lead: string | undefined;
  series: ReadonlyMap<string, ChannelSeries>;
  marks: Marks;
  scale: ValueScale;
  onLog: () => void;
  onLock: () => void;
  /** Draws one curve before the others; null: all alike. */
  onFocus: (index: number | null) => void;
  onRemove: (channelKey: string) => void;
  /** The element that shows a channel's value at the cursor. */
  valueElement: (channelKey: string, element: HTMLElement | null) => void;
}

/** A panel's title, its channels with their values, and what can be done to its scale. */
export function ChartHead(props: HeadProps) {
  const { panel, scale } = props;
  // The title of a panel with one channel is that channel's name already.
  const [only, ...more] = panel.channels;
  const isNamed = only !== undefined && more.length === 0 && panel.title === legendName(only, [only]);
  return (
    <header class="chart-head">
      {props.lead !== undefined && <span class="chart-lead">{props.lead}</span>}
      <h2>
        {panel.title}
        {panel.unit !== '' && <span class="chart-unit"> [{panel.unit}]</span>}
      </h2>
      <ul class="legend">
        {panel.channels.map((channel, index) => (
          <LegendItem
            key={channel.key}
            {...props}
            channel={channel}
            index={index}
            name={legendName(channel, panel.channels)}
            isNamed={isNamed}
          />
        ))}
      </ul>
      {panel.channels.every(({ kind }) => kind === 'number') && (
        <div class="chart-tools">
          <ChartTool
            label="Log"
            of={props.spoken}
            isOn={scale.logarithmic}
            title="Logarithmic scale"
            onClick={props.onLog}
          />
          <ChartTool
            label="Lock"
            of={props.spoken}
            isOn={scale.held !== null}
            title="Keep this value range. Shift and wheel, or Shift with up and down, zoom it."
            onClick={props.onLock}
          />
        </div>
      )}
    </header>
  );
}

/** A channel: the sample of its curve, its name, and its values at the cursor and at the marks. */
function LegendItem(
  props: Pick<HeadProps, 'series' | 'marks' | 'onFocus' | 'onRemove' | 'valueElement'> & {
    channel: Channel;
    index: number;
    name: string;
    /** The title of the panel names it already. */
    isNamed: boolean;
  },
) {
  const { channel, index, isNamed } = props;
  return (
    <li
      class="legend-item"
      onMouseEnter={() => props.onFocus(index)}
      onMouseLeave={() => props.onFocus(null)}
    >
      {channel.kind === 'number' && !isNamed && <Swatch index={channel.colour ?? index} />}
      <span class={isNamed ? 'visually-hidden' : 'legend-name'}>{props.name}</span>
      <span
        class="legend-value"
        data-channel={channel.key}
        ref={(element) => props.valueElement(channel.key, element)}
      />
      <span class="legend-marks">{markedValues(props.series.get(channel.key), channel, props.marks)}</span>
      <RemoveButton name={props.name} onClick={() => props.onRemove(channel.key)} />
    </li>
  );
}

/** A switch of a chart's axes. */
export function ChartTool(props: {
  label: string;
  /** The panel that it belongs to. */
  of: string;
  title: string;
  isOn: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class="chart-tool"
      aria-label={`${props.label}: ${props.of}`}
      aria-pressed={props.isOn}
      title={props.title}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}

function RemoveButton(props: { name: string; onClick: () => void }) {
  return (
    <button
      type="button"
      class="legend-remove"
      aria-label={`Hide ${props.name}`}
      title="Hide"
      onClick={props.onClick}
    >
      ×
    </button>
  );
}

/** The colour and the dashes of a curve. */
export function curveStyle(index: number): { stroke: string; dash: number[] } {
  const style = getComputedStyle(document.documentElement);
  return {
    stroke: style.getPropertyValue(`--series-${(index % colours) + 1}`).trim(),
    dash: dashes[Math.floor(index / colours) % dashes.length] ?? [],
  };
}

/** The sample of a curve's line in its legend. */
export function Swatch(props: { index: number }) {
  const dash = dashes[Math.floor(props.index / colours) % dashes.length] ?? [];
  return (
    <svg class={`swatch series-${(props.index % colours) + 1}`} viewBox="0 0 18 8" aria-hidden="true">
      <path d="M1 4h16" {...(dash.length > 0 ? { 'stroke-dasharray': dash.join(' ') } : {})} />
    </svg>
  );
}
