import { useId } from 'preact/hooks';
import { listMetadataKeys, type SessionMetadataKey } from '../api.ts';
import { useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { IconButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import { type Draft, newDraft } from './metadata-model.ts';

const none: readonly SessionMetadataKey[] = [];

/** The metadata keys of a project's newest sessions, to suggest; none for people who may not list sessions. */
export function useMetadataKeys(projectId: number | null): readonly SessionMetadataKey[] {
  const { listSessions } = useAbilities();
  const keys = useResource(`metadata-keys ${listSessions} ${projectId}`, async (signal) =>
    listSessions ? listMetadataKeys(projectId, signal) : none,
  );
  return keys.data ?? none;
}

/** Suggestions for an input with this `list`. */
export function Suggestions(props: { id: string; values: readonly unknown[] }) {
  return (
    <datalist id={props.id}>
      {props.values.map((value) => (
        <option key={String(value)} value={String(value)} />
      ))}
    </datalist>
  );
}

/** Rows of name and value; names and values that other sessions have are suggested. */
export function MetadataFields(props: {
  drafts: readonly Draft[];
  keys: readonly SessionMetadataKey[];
  onDrafts: (drafts: readonly Draft[]) => void;
}) {
  const { drafts, keys, onDrafts } = props;
  const base = useId();
  const change = (id: number, part: Partial<Draft>) =>
    onDrafts(drafts.map((draft) => (draft.id === id ? { ...draft, ...part } : draft)));
  const used = new Set(drafts.map(({ path }) => path));
  return (
    <div class="metadata-fields">
      <Suggestions
        id={`${base}-keys`}
        values={keys.map(({ path }) => path).filter((path) => !used.has(path))}
      />
      {drafts.map((draft, index) => (
        <MetadataRow
          key={draft.id}
          draft={draft}
          name={draft.path === '' ? `entry ${index + 1}` : draft.path}
          lists={{ names: `${base}-keys`, values: `${base}-${draft.id}` }}
          samples={keys.find(({ path }) => path === draft.path.trim())?.samples ?? []}
          change={(part) => change(draft.id, part)}
          remove={() => onDrafts(drafts.filter(({ id }) => id !== draft.id))}
        />
      ))}
      <button type="button" class="button button-small" onClick={() => onDrafts([...drafts, newDraft()])}>
        <Icon name="plus" />
        Add metadata
      </button>
    </div>
  );
}

function MetadataRow(props: {
  draft: Draft;
  /** For screen readers. */
  name: string;
  /** The ids of the suggestions. */
  lists: { names: string; values: string };
  samples: readonly unknown[];
  change: (part: Partial<Draft>) => void;
  remove: () => void;
}) {
  const { draft, name, lists, change } = props;
  return (
    <div class="metadata-row">
      {draft.entry === undefined ? (
        <input
          class="select"
          aria-label={`Name of ${name}`}
          placeholder="name"
          list={lists.names}
          autocomplete="off"
          spellcheck={false}
          value={draft.path}
          onInput={(event) => change({ path: event.currentTarget.value })}
        />
      ) : (
        <span class="metadata-name">{draft.path}</span>
      )}
      <Suggestions id={lists.values} values={props.samples} />
      <input
        class="select"
        aria-label={`Value of ${name}`}
        placeholder="value"
        list={lists.values}
        autocomplete="off"
        value={draft.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <IconButton icon="cross" label={`Remove ${name}`} title="Remove this entry" onClick={props.remove} />
    </div>
  );
}
