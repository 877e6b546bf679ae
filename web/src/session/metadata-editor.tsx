import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SessionDetails } from '../api.ts';
import { keepDraft, keptDraft } from '../configuration/kept-drafts.ts';
import { useAuth } from '../hooks.ts';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { type Entry, entriesOf, pathOf, valueText } from './metadata-model.ts';

/** The form's code is fetched when it is opened. */
const FormLoader = lazy(() => import('./metadata-form.tsx').then((module) => module.MetadataForm), null);

/** The metadata of a session, shown and edited: also by a Trainee who takes part. */
export function MetadataEditor(props: { session: SessionDetails; canEdit: boolean; saved: () => void }) {
  const { session } = props;
  const ownId = useAuth().signIn?.user.userId;
  const canEdit = props.canEdit || session.sessionUsers.some(({ userId }) => userId === ownId);
  const draftKey = `${ownId} metadata ${session.id}`;
  const [edits, setEdits] = useState(() => keptDraft(draftKey) !== null);
  const entries = entriesOf(session.metadata ?? null);
  const { opener, isAsked, ask } = useFocusBack(edits);
  const show = (edited: boolean) => {
    ask();
    setEdits(edited);
  };
  return (
    <section class="metadata" aria-label="Metadata">
      <div class="metadata-head">
        <h2>Metadata</h2>
        {canEdit && !edits && (
          <button
            type="button"
            class="button button-small button-quiet"
            ref={opener}
            onClick={() => show(true)}
          >
            <Icon name={entries.length === 0 ? 'plus' : 'configuration'} />
            {entries.length === 0 ? 'Add metadata' : 'Edit metadata'}
          </button>
        )}
      </div>
      {edits ? (
        <FormLoader
          sessionId={session.id}
          projectId={session.projectId}
          entries={entries}
          draftKey={draftKey}
          takesFocus={isAsked()}
          saved={props.saved}
          onClose={() => {
            keepDraft(draftKey, null);
            show(false);
          }}
        />
      ) : (
        <Shown entries={entries} />
      )}
    </section>
  );
}

/** Where the person opens or closes the form, the focus follows: back to the button when it closes. */
function useFocusBack(edits: boolean) {
  const opener = useRef<HTMLButtonElement>(null);
  const asked = useRef(false);
  useLayoutEffect(() => {
    if (asked.current) opener.current?.focus();
  }, [edits]);
  const ask = () => {
    asked.current = true;
  };
  return { opener, isAsked: () => asked.current, ask };
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
