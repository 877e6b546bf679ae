import { useLayoutEffect, useState } from 'preact/hooks';
import { readSession, type SessionDetails, saveMetadata } from '../api.ts';
import { keepDraft, keptDraft } from '../configuration/kept-drafts.ts';
import { useAction, useAuth } from '../hooks.ts';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { MetadataFields, useMetadataKeys } from './metadata-fields.tsx';
import {
  changesOf,
  type Draft,
  differs,
  type Entry,
  entriesOf,
  newDraft,
  pathOf,
  valueText,
  withChanges,
} from './metadata-model.ts';

/** The metadata of a session, shown and edited: also by a Trainee who takes part. */
export function MetadataEditor(props: { session: SessionDetails; canEdit: boolean; saved: () => void }) {
  const { session } = props;
  const ownId = useAuth().signIn?.user.userId;
  const canEdit = props.canEdit || session.sessionUsers.some(({ userId }) => userId === ownId);
  const draftKey = `${ownId} metadata ${session.id}`;
  const [edits, setEdits] = useState(() => keptDraft(draftKey) !== null);
  const entries = entriesOf(session.metadata ?? null);
  return (
    <section class="metadata" aria-label="Metadata">
      <div class="metadata-head">
        <h2>Metadata</h2>
        {canEdit && !edits && (
          <button type="button" class="button button-small button-quiet" onClick={() => setEdits(true)}>
            <Icon name={entries.length === 0 ? 'plus' : 'configuration'} />
            {entries.length === 0 ? 'Add metadata' : 'Edit metadata'}
          </button>
        )}
      </div>
      {edits ? (
        <Editor
          sessionId={session.id}
          projectId={session.projectId}
          entries={entries}
          draftKey={draftKey}
          saved={props.saved}
          onClose={() => {
            keepDraft(draftKey, null);
            setEdits(false);
          }}
        />
      ) : (
        <Shown entries={entries} />
      )}
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

interface KeptDraft {
  readonly before: readonly Entry[];
  readonly drafts: readonly Draft[];
}

function Editor(props: {
  sessionId: string;
  projectId: number;
  entries: readonly Entry[];
  draftKey: string;
  saved: () => void;
  onClose: () => void;
}) {
  const { sessionId, draftKey } = props;
  const [kept] = useState(() => keptDraft<KeptDraft>(draftKey));
  const keys = useMetadataKeys(props.projectId);
  const action = useAction();
  // What was there when editing began: what comes meanwhile is neither lost nor overwritten, entry by entry.
  const [before] = useState(kept?.before ?? props.entries);
  const [drafts, setDrafts] = useState<readonly Draft[]>(
    () => kept?.drafts ?? (before.length === 0 ? [newDraft()] : before.map(newDraft)),
  );
  const isTyped = differs(drafts, before);
  // At once: the person may leave the page with the next key.
  useLayoutEffect(() => keepDraft(draftKey, { before, drafts } satisfies KeptDraft, isTyped), [drafts]);
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
