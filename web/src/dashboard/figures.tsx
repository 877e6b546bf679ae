import { formatCount, formatValue } from '../format.ts';
import { formatMean, formatShare } from './figure-texts.ts';
import type { Channel } from './model.ts';
import type { ChannelStatistics } from './series.ts';

const statesNamed = 3;

/** The statistics of a channel in the visible window. Its extremes are buttons that lead to them. */
export function Figures(props: {
  channel: Channel;
  /** Named when a measure comes from several recordings. */
  recording: string | null;
  statistics: ChannelStatistics | undefined;
  onJump: (timeMs: number) => void;
}) {
  const { channel, statistics } = props;
  if (statistics === undefined)
    return <div class="channel-figures channel-figures-empty" aria-hidden="true" />;
  const name = props.recording === null ? channel.name : `${channel.name} of ${props.recording}`;
  const { count, missing, min, max, mean, standardDeviation, states } = statistics;
  const details = [
    `${formatCount(count)} values`,
    missing > 0 ? `${formatCount(missing)} missing` : '',
    standardDeviation === null ? '' : `standard deviation ${formatValue(standardDeviation)}`,
  ];
  return (
    <div class="channel-figures" title={details.filter((part) => part !== '').join(', ')}>
      {props.recording !== null && <span class="channel-figures-recording">{props.recording}</span>}
      {count === 0 && <span>no values here</span>}
      <Extreme word="min" extreme={min} unit={channel.unit} name={name} onJump={props.onJump} />
      {mean !== null && (
        <span title={`mean ${formatValue(mean)}`}>
          mean {formatMean(mean, min?.value ?? mean, max?.value ?? mean)}
        </span>
      )}
      <Extreme word="max" extreme={max} unit={channel.unit} name={name} onJump={props.onJump} />
      {states?.slice(0, statesNamed).map(({ value, share }) => (
        <span key={String(value)}>
          {String(value)} {formatShare(share)}
        </span>
      ))}
      {states !== null && states.length > statesNamed && <span>and {states.length - statesNamed} more</span>}
    </div>
  );
}

function Extreme(props: {
  word: string;
  extreme: ChannelStatistics['min'];
  unit: string;
  /** Tells its channel from those of other recordings. */
  name: string;
  onJump: (timeMs: number) => void;
}) {
  const { extreme } = props;
  if (extreme === null) return null;
  const value = formatValue(extreme.value);
  return (
    <button
      type="button"
      class="channel-figure"
      aria-label={`${props.word} ${value} ${props.unit}, ${props.name}: put the cursor there`}
      onClick={() => props.onJump(Date.parse(extreme.at))}
    >
      {props.word} {value}
    </button>
  );
}
