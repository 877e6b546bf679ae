import { useState } from 'preact/hooks';
import { ChannelList } from './channel-list.tsx';
import type { Channel } from './model.ts';
import type { ChannelStatistics } from './series.ts';

/** The list of channels: beside the charts where there is room, else behind a button above them. */
export function ChannelSide(props: {
  channels: Channel[];
  keys: string[];
  /** The channels of all recordings whose statistics are shown. */
  drawn: Channel[];
  statistics: ReadonlyMap<string, ChannelStatistics>;
  onJump: (timeMs: number) => void;
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
        drawn={props.drawn}
        statistics={props.statistics}
        onJump={props.onJump}
        onChange={(chosen) =>
          props.onChange([...chosen].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)))
        }
      />
    </aside>
  );
}
