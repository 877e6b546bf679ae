import { useState } from 'preact/hooks';
import { plural } from '../../format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import type { Channel } from '../model.ts';
import {
  hasChannels,
  kindNames,
  type LayoutForm,
  maxCharacters,
  minChannels,
  newPanel,
  type PanelForm,
  type PanelKind,
  placeChannels,
  shownName,
} from './model.ts';
import { textHint } from './text-panel.tsx';

const hints: Readonly<Record<PanelKind, string>> = {
  lines: 'Curves over the x axis of the layout.',
  xy: 'The first channel across, the others up.',
  histogram: 'How often each value is, counted over every row.',
  track: 'Latitude, then longitude.',
  table: 'The values at the cursor.',
  media: 'Outputs of the session with pictures or video, in step with the cursor.',
  text: 'Words beside the charts: what to look at, what was changed.',
};
const most = (kind: PanelKind) => (kind === 'track' ? 2 : 64);

/** What a person chooses of a panel. */
type Draft = Pick<PanelForm, 'kind' | 'title' | 'output' | 'channels' | 'text'>;

/** A new panel, or another form of one. */
export function PanelDialog(props: {
  channels: readonly Channel[];
  layout: LayoutForm;
  /** Null: a new one. */
  panel: PanelForm | null;
  onPanel: (panel: PanelForm) => void;
  onClose: () => void;
}) {
  const { panel } = props;
  const [draft, setDraft] = useState<Draft>(panel ?? newPanel('lines', []));
  const { kind } = draft;
  const [isTried, setIsTried] = useState(false);
  const isComplete = isWhole(draft);
  return (
    <Dialog title={panel === null ? 'Add panel' : 'Edit panel'} onClose={props.onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          setIsTried(true);
          if (!isComplete) return;
          props.onPanel({ ...(panel ?? newPanel(kind, [])), ...fieldsOf(draft) });
          props.onClose();
        }}
      >
        <PanelFields
          draft={draft}
          names={namesFor(draft, props)}
          set={(part) => setDraft((before) => ({ ...before, ...part }))}
        />
        {isTried && !isComplete && hasChannels(kind) && <Notice tone="error">{channelsWanted(draft)}</Notice>}
        <div class="form-end">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" aria-disabled={!isComplete}>
            {panel === null ? 'Add panel' : 'Save panel'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What a panel of this kind can draw, and whatever is or was chosen: also what this dashboard has not. */
function namesFor(
  { kind, channels: chosen }: Draft,
  { channels, layout, panel }: { channels: readonly Channel[]; layout: LayoutForm; panel: PanelForm | null },
): string[] {
  const measured = channels.filter((one) => one.kind !== 'text' || kind === 'table' || kind === 'lines');
  const derived = layout.derived.map(({ name }) => `=${name}`);
  return [
    ...new Set([...measured.map(({ name }) => name), ...derived, ...(panel?.channels ?? []), ...chosen]),
  ];
}

function isWhole({ kind, channels, text }: Draft): boolean {
  if (kind === 'text') return text.length <= maxCharacters;
  return kind === 'media' || (channels.length >= minChannels(kind) && channels.length <= most(kind));
}

/** What is missing, or too much. */
function channelsWanted({ kind, channels }: Draft): string {
  const least = minChannels(kind);
  if (channels.length < least) return `Choose at least ${plural(least, 'channel', 'channels')}.`;
  return `Choose at most ${plural(most(kind), 'channel', 'channels')}.`;
}

/** Removes what a panel of another kind would have. */
const fieldsOf = ({ kind, title, output, channels, text }: Draft): Draft => ({
  kind,
  title: title.trim(),
  channels: hasChannels(kind) ? channels : [],
  output: kind === 'media' ? output.trim() : '',
  text: kind === 'text' ? text : '',
});

/** The fields that a panel of the chosen kind has. */
function PanelFields(props: {
  draft: Draft;
  /** The names of the channels that can be drawn. */
  names: readonly string[];
  set: (part: Partial<Draft>) => void;
}) {
  const { draft, names, set } = props;
  const { kind, text } = draft;
  return (
    <>
      <SelectField
        label="Type"
        hint={hints[kind]}
        value={kind}
        options={Object.entries(kindNames).map(([value, label]) => ({ value: value as PanelKind, label }))}
        onValue={(next) => {
          const isPlace = next === 'track' && draft.channels.length === 0;
          set({ kind: next, ...(isPlace ? { channels: placeChannels(names) } : {}) });
        }}
      />
      <TextField
        label="Title"
        hint={kind === 'text' ? 'Default: Notes.' : 'Default: the names of its channels or outputs.'}
        value={draft.title}
        onValue={(title) => set({ title })}
      />
      {kind === 'text' && (
        <AreaField
          label="Text"
          rows={6}
          value={text}
          onValue={(next) => set({ text: next })}
          hint={textHint(text)}
        />
      )}
      {kind === 'media' && (
        <TextField
          label="Outputs"
          hint="A part of their names, such as front. Without it: all."
          value={draft.output}
          onValue={(output) => set({ output })}
        />
      )}
      {hasChannels(kind) && (
        <ChannelChoice names={names} chosen={draft.channels} onChosen={(channels) => set({ channels })} />
      )}
    </>
  );
}

/** The order matters: an XY panel has its first channel across. */
function ChannelChoice(props: {
  names: readonly string[];
  chosen: readonly string[];
  onChosen: (chosen: readonly string[]) => void;
}) {
  const { chosen } = props;
  const choose = (name: string, on: boolean) =>
    props.onChosen(on ? [...chosen, name] : chosen.filter((other) => other !== name));
  return (
    <fieldset class="panel-channels">
      <legend>Channels, in the order of choice</legend>
      {props.names.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) => choose(name, event.currentTarget.checked)}
          />
          <span>
            {chosen.includes(name) && `${chosen.indexOf(name) + 1}. `}
            {shownName(name)}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
