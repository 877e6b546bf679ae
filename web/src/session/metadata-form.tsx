import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readSession, saveMetadata } from '../api.ts';
import { keepDraft, keptDraft } from '../configuration/kept-drafts.ts';
import { useAction } from '../hooks.ts';
import { Form } from '../ui/form.tsx';
import { MetadataFields, useMetadataKeys } from './metadata-fields.tsx';
import { changesOf, type Draft, differs, type Entry, newDraft, withChanges } from './metadata-model.ts';

interface KeptDraft {
  readonly before: readonly Entry[];
  readonly drafts: readonly Draft[];
}

/** Its entries as fields. What is typed is kept until it is saved or cancelled. */
export function MetadataForm(props: {
  sessionId: string;
  projectId: number;
  entries: readonly Entry[];
  draftKey: string;
  takesFocus: boolean;
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
  const fields = useRef<HTMLDivElement>(null);
  // Before anybody can have gone elsewhere.
  useLayoutEffect(() => {
    if (props.takesFocus) fields.current?.querySelector('input')?.focus();
  }, []);
  return (
    <Form
      action={action}
      verb="Save metadata"
      onSubmit={() => void action.run(save)}
      onCancel={props.onClose}
    >
      <div ref={fields}>
        <MetadataFields drafts={drafts} keys={keys} onDrafts={setDrafts} />
      </div>
    </Form>
  );
}
