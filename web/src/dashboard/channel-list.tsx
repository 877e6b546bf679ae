import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { Icon } from '../ui/icon.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Figures } from './figures.tsx';
import { listedChannels, measureOf } from './machines.ts';
import type { Channel, ChannelGroup } from './model.ts';
import { groupChannels } from './model.ts';
import type { ChannelStatistics } from './series.ts';

/** Above this many channels, groups without a chosen one start closed. */
const manyChannels = 60;

interface Shown {
  /** The channels of all recordings whose statistics are shown. */
  drawn: readonly Channel[];
  statistics: ReadonlyMap<string, ChannelStatistics>;
  onJump: (timeMs: number) => void;
}

/** All channels by realm and group; ticking one shows it, with its statistics. */
export function ChannelList(
  props: Shown & {
    channels: Channel[];
    chosen: ReadonlySet<string>;
    onChange: (chosen: Set<string>) => void;
  },
) {
  const [search, setSearch] = useState('');
  const groups = groupChannels(props.channels, search);
  const set = (keys: string[], on: boolean) => {
    const next = new Set(props.chosen);
    for (const key of keys) {
      if (on) next.add(key);
      else next.delete(key);
    }
    props.onChange(next);
  };
  return (
    <div class="channels">
      <div class="channels-head">
        <h2>Channels</h2>
        <span class="faint">
          {props.chosen.size} of {plural(props.channels.length, 'channel', 'channels')}
        </span>
      </div>
      <SearchField label="Search channels" value={search} onValue={setSearch} />
      <div class="channel-groups">
        {groups.length === 0 && <p class="faint">No channel matches.</p>}
        {groups.map((group) => (
          <Group
            key={group.id}
            group={group}
            shown={props}
            chosen={props.chosen}
            set={set}
            searching={search.trim() !== ''}
            startOpen={
              props.channels.length <= manyChannels ||
              group.channels.some((channel) => props.chosen.has(channel.key))
            }
          />
        ))}
      </div>
    </div>
  );
}

function Group(props: {
  group: ChannelGroup;
  shown: Shown;
  chosen: ReadonlySet<string>;
  set: (keys: string[], on: boolean) => void;
  searching: boolean;
  startOpen: boolean;
}) {
  const { group, chosen } = props;
  const [open, setOpen] = useState(props.startOpen);
  const shown = open || props.searching;
  const byName = Map.groupBy(group.channels, ({ name }) => name);
  const listed = listedChannels(group.channels, chosen);
  const left = group.channels.length - listed.length;
  return (
    <fieldset class="channel-group">
      <legend class="visually-hidden">{group.title}</legend>
      <GroupHead
        group={group}
        chosen={chosen}
        set={props.set}
        shown={shown}
        onToggle={() => setOpen(!open)}
      />
      {shown && (
        <ul>
          {listed.map((channel) => (
            <ChannelRow
              key={channel.key}
              channel={channel}
              shown={props.shown}
              isChosen={chosen.has(channel.key)}
              isRepeated={(byName.get(channel.name)?.length ?? 0) > 1}
              onChosen={(on) => props.set([channel.key], on)}
            />
          ))}
          {left > 0 && (
            <li class="faint">{plural(left, 'further channel', 'further channels')}: search for them.</li>
          )}
        </ul>
      )}
    </fieldset>
  );
}

/** Ticks all channels of a group; its title shows or hides them. */
function GroupHead(props: {
  group: ChannelGroup;
  chosen: ReadonlySet<string>;
  set: (keys: string[], on: boolean) => void;
  /** Its channels are shown. */
  shown: boolean;
  onToggle: () => void;
}) {
  const { group, shown } = props;
  const keys = group.channels.map((channel) => channel.key);
  const count = keys.filter((key) => props.chosen.has(key)).length;
  const all = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (all.current !== null) all.current.indeterminate = count > 0 && count < keys.length;
  }, [count, keys.length]);
  return (
    <div class="channel-group-head">
      <input
        ref={all}
        type="checkbox"
        aria-label={`All channels of ${group.title}`}
        checked={count === keys.length}
        onChange={(event) => props.set(keys, event.currentTarget.checked)}
      />
      <button type="button" class="channel-group-title" aria-expanded={shown} onClick={props.onToggle}>
        <span>{group.title}</span>
        <span class="faint">{count > 0 ? `${count}/${group.channels.length}` : group.channels.length}</span>
        <Icon name={shown ? 'up' : 'down'} />
      </button>
    </div>
  );
}

function ChannelRow(props: {
  channel: Channel;
  shown: Shown;
  isChosen: boolean;
  isRepeated: boolean;
  onChosen: (on: boolean) => void;
}) {
  const { channel, shown } = props;
  const measure = measureOf(channel);
  const namesakes = props.isChosen ? shown.drawn.filter((one) => measureOf(one) === measure) : [];
  const isOwn = namesakes.some(({ key }) => key === channel.key) && props.isRepeated;
  const figures = isOwn ? [channel] : namesakes;
  return (
    <li>
      <label class="channel" title={channel.sourceName}>
        <input
          type="checkbox"
          value={channel.key}
          checked={props.isChosen}
          onChange={(event) => props.onChosen(event.currentTarget.checked)}
        />
        <span class="channel-name">
          {channel.name}
          {props.isRepeated && <span class="channel-source">{channel.sourceName}</span>}
        </span>
        <span class="faint">{channel.kind === 'text' ? 'text' : channel.unit}</span>
      </label>
      {figures.map((one) => (
        <Figures
          key={one.key}
          channel={one}
          recording={figures.length > 1 ? one.sourceName : null}
          statistics={shown.statistics.get(one.key)}
          onJump={shown.onJump}
        />
      ))}
    </li>
  );
}
