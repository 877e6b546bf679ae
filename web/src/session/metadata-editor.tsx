import { useState } from 'preact/hooks';
import { readSession, saveMetadata } from '../api.ts';
import { useAction, useAuth, useResource } from '../hooks.ts';
import { valueText } from '../sessions/list-model.ts';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MetadataFields, useMetadataKeys } from './metadata-fields.tsx';
import {
  changesOf,
  type Draft,
  type Entry,
  entriesOf,
  newDraft,
  pathOf,
  withChanges,
} from './metadata-model.ts';

/** The metadata of a session, shown and edited: also by a Trainee who takes part. */
export function MetadataEditor(props: { sessionId: string; canEdit: boolean }) {
  const { sessionId } = props;
  const session = useResource(`metadata ${sessionId}`, (signal) => readSession(sessionId, signal));
  const ownId = useAuth().signIn?.user.userId;
  const takesPart = session.data?.sessionUsers.some(({ userId }) => userId === ownId) === true;
  const canEdit = props.canEdit || takesPart;
  const [edits, setEdits] = useState(false);
  const entries = entriesOf(session.data?.metadata ?? null);
  return (
    <section class="metadata" aria-label="Metadata">
      <div class="metadata-head">
        <h2>Metadata</h2>
        {canEdit && !edits && session.data !== null && (
          <button type="button" class="button button-small button-quiet" onClick={() => setEdits(true)}>
            <Icon name={entries.length === 0 ? 'plus' : 'configuration'} />
            {entries.length === 0 ? 'Add metadata' : 'Edit metadata'}
          </button>
        )}
      </div>
      <Loaded of={session} failure="The metadata could not be read." rows={2} label="Loading metadata">
        {({ projectId }) =>
          edits ? (
            <Editor
              sessionId={sessionId}
              projectId={projectId}
              entries={entries}
              saved={session.reload}
              onClose={() => setEdits(false)}
            />
          ) : (
            <Shown entries={entries} />
          )
        }
      </Loaded>
    </section>
  );
}

function Shown({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return <p class="faint">No metadata.</p>;
  return (
    <dl class="metadata-list">
      {entries.map((entry) => (
        <div key={entry.keys.join('\n')}>
          <dt>{pathOf(entry)}</dt>
          <dd>{valueText(entry.value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Editor(props: {
  sessionId: string;
  projectId: number;
  entries: readonly Entry[];
  saved: () => void;
  onClose: () => void;
}) {
  const { sessionId, entries } = props;
  const keys = useMetadataKeys(props.projectId);
  const action = useAction();
  // What was there when editing began: what comes meanwhile is neither lost nor overwritten, entry by entry.
  const [before] = useState(entries);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    entries.length === 0 ? [newDraft()] : entries.map(newDraft),
  );
  const save = async () => {
    const changes = changesOf(drafts, before);
    if (changes.length > 0) {
      const { metadata } = await readSession(sessionId);
      await saveMetadata(sessionId, withChanges(metadata, changes));
      props.saved();
    }
    props.onClose();
  };
  return (
    <Form
      action={action}
      verb="Save metadata"
      onSubmit={() => void action.run(save)}
      onCancel={props.onClose}
    >
      <MetadataFields drafts={drafts} keys={keys} onDrafts={setDrafts} />
    </Form>
  );
}
