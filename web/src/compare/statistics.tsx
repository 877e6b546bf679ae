import { Swatch } from '../dashboard/chart/head.tsx';
import type { Channel } from '../dashboard/model.ts';
import type { ChannelStatistics } from '../dashboard/series.ts';
import { formatValue } from '../format.ts';
import { type Comparison, channelFor } from './choice.ts';

interface StatisticsProps {
  comparison: Comparison;
  figures: ReadonlyMap<string, ChannelStatistics>;
  onJump: (timeMs: number) => void;
}

/** Statistics of the visible window: a column for each recording, and rows for each measure. An extreme leads to its place. */
export function StatisticsTable(props: StatisticsProps) {
  const { measures, offered, shown } = props.comparison;
  const numbers = offered.filter(({ key, kind }) => kind === 'number' && measures.includes(key));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, and keys scroll only what has the focus
    <section class="card compare-statistics" aria-label="Statistics side by side" tabIndex={0}>
      <table>
        <caption>Statistics of the visible time</caption>
        <thead>
          <tr>
            <th scope="col">Channel</th>
            <th scope="col">Figure</th>
            {shown.map(({ id, title, colour }) => (
              <th key={id} scope="col">
                <Swatch index={colour} /> {title}
              </th>
            ))}
          </tr>
        </thead>
        {numbers.map((channel) => (
          <MeasureRows key={channel.key} {...props} channel={channel} />
        ))}
      </table>
    </section>
  );
}

/** The rows of a measure: its greatest value, mean and least value in each recording. */
function MeasureRows(props: StatisticsProps & { channel: Channel }) {
  const { key: measure, name, unit } = props.channel;
  const { shown, shifts } = props.comparison;
  return (
    <tbody>
      {(['max', 'mean', 'min'] as const).map((figure, row) => (
        <tr key={figure}>
          {row === 0 && (
            <th scope="rowgroup" rowSpan={3}>
              {name} <span class="faint">{unit}</span>
            </th>
          )}
          <th scope="row">{figure}</th>
          {shown.map((recording) => {
            const channel = channelFor(recording, measure);
            const statistics = channel === undefined ? undefined : props.figures.get(channel.key);
            return (
              <td key={recording.id}>
                <Figure
                  figure={figure}
                  statistics={statistics}
                  named={`${name} of ${recording.title}`}
                  onJump={(at) => props.onJump(at + (shifts.get(recording.id) ?? 0))}
                />
              </td>
            );
          })}
        </tr>
      ))}
    </tbody>
  );
}

function Figure(props: {
  figure: 'min' | 'mean' | 'max';
  statistics: ChannelStatistics | undefined;
  named: string;
  onJump: (timeMs: number) => void;
}) {
  const { figure, statistics } = props;
  if (statistics === undefined) return <span class="faint">–</span>;
  if (figure === 'mean') return <>{statistics.mean === null ? '–' : formatValue(statistics.mean)}</>;
  const extreme = statistics[figure];
  if (extreme === null) return <span class="faint">–</span>;
  return (
    <button
      type="button"
      class="channel-figure"
      aria-label={`${figure} ${formatValue(extreme.value)}, ${props.named}: put the cursor there`}
      onClick={() => props.onJump(Date.parse(extreme.at))}
    >
      {formatValue(extreme.value)}
    </button>
  );
}
