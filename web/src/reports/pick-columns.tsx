import { useState } from 'preact/hooks';
import type { ReportNames, SessionMetadataKey } from '../../../client/types.ts';
import { SearchField } from '../ui/search-field.tsx';
import type { DraftColumn } from './model.ts';
import { channelPick, channelStatistics, isPicked, type Pick, picked, picksOf } from './picks.ts';

/** How many channels are listed. Others are found by their names. */
const shownChannels = 12;

interface Props {
  columns: DraftColumn[];
  names: ReportNames | null;
  metadata: readonly SessionMetadataKey[];
  onChange: (columns: DraftColumn[]) => void;
}

/** What there is, to tick: fields, metadata with values of the newest sessions, statistics of channels. */
export function PickColumns(props: Props) {
  const { columns, names, metadata, onChange } = props;
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = picksOf(metadata).filter(({ group, name }) => matches(`${group} ${name}`));
  const channels = (names?.channels ?? []).filter(({ name }) => matches(`channels ${name}`));
  return (
    <fieldset class="report-part">
      <legend>Columns</legend>
      <SearchField label="Search columns" value={search} onValue={setSearch} />
      {found.length + channels.length === 0 && <p class="faint">No column matches.</p>}
      <div class="report-picks">
        {[...Map.groupBy(found, ({ group }) => group)].map(([group, picks]) => (
          <fieldset key={group}>
            <legend>{group}</legend>
            {picks.map((pick) => (
              // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
              <label key={pick.expression} class="check">
                <Tick pick={pick} columns={columns} onChange={onChange} />
                <span>
                  {pick.name} {pick.sample !== '' && <span class="faint">{pick.sample}</span>}
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      {channels.length > 0 && <PickChannels channels={channels} columns={columns} onChange={onChange} />}
    </fieldset>
  );
}

function PickChannels(props: { channels: ReportNames['channels'] } & Ticked) {
  const { channels, columns, onChange } = props;
  const shown = channels.slice(0, shownChannels);
  return (
    <div class="report-channels">
      <table>
        <caption>Channels, over the recordings of a dashboard</caption>
        <thead>
          <tr>
            <th scope="col">Channel</th>
            {channelStatistics.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((channel) => (
            <tr key={channel.name}>
              <th scope="row">
                {channel.name} {channel.unit !== null && <span class="faint">{channel.unit}</span>}
              </th>
              {channelStatistics.map((statistic) => {
                const pick = channelPick(channel, statistic);
                return (
                  <td key={statistic.field}>
                    <Tick pick={pick} columns={columns} onChange={onChange} label={pick.name} />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {channels.length > shown.length && (
        <p class="faint">{channels.length - shown.length} more: search for their names.</p>
      )}
    </div>
  );
}

interface Ticked {
  columns: DraftColumn[];
  onChange: (columns: DraftColumn[]) => void;
}

function Tick(props: { pick: Pick; label?: string } & Ticked) {
  const { pick, columns, onChange } = props;
  return (
    <input
      type="checkbox"
      aria-label={props.label}
      checked={isPicked(pick, columns)}
      onChange={(event) => onChange(picked(columns, pick, event.currentTarget.checked))}
    />
  );
}
