import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { authState } from '../../auth.ts';
import { keepDraft, keptDraft } from '../../configuration/kept-drafts.ts';
import { useAuth } from '../../hooks.ts';
import { PanelSection } from '../panel-section.tsx';
import { maxCharacters } from './model.ts';

/** How long a text may be; how it is shown while it is not too long. */
export const textHint = (text: string) =>
  text.length > maxCharacters
    ? `At most ${maxCharacters} characters; these are ${text.length}.`
    : 'Shown as it is, with its line breaks.';

/** Words beside the charts, changed where they stand. */
export function TextPanel(props: {
  title: string;
  place: string;
  text: string;
  height: number;
  /** Tells its draft from those of other panels. */
  draftKey: string;
  onText: (text: string) => void;
}) {
  const { title, text } = props;
  const { draft, setDraft } = useDraft(props.draftKey, text);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  useLayoutEffect(() => {
    if (wasEdited.current && draft === null) edit.current?.focus();
    wasEdited.current = draft !== null;
  }, [draft]);
  const keep = () => {
    if (draft === null || draft.length > maxCharacters) return;
    if (draft !== text) props.onText(draft);
    setDraft(null);
  };
  return (
    <PanelSection
      title={title}
      place={props.place}
      tools={
        draft === null && (
          <div class="chart-tools">
            <button ref={edit} type="button" class="chart-tool" onClick={() => setDraft(text)}>
              Edit text
            </button>
          </div>
        )
      }
    >
      {draft === null ? (
        // The keys reach it to scroll it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keys
        <div class="text-panel" tabIndex={0} role="note" style={{ '--text-height': `${props.height}px` }}>
          {text === '' ? <p class="faint">No text yet.</p> : <p>{text}</p>}
        </div>
      ) : (
        <Editor draft={draft} height={props.height} onDraft={setDraft} onKeep={keep} />
      )}
    </PanelSection>
  );
}

/** What is typed, kept while another page of the console is shown; null: nothing is edited. */
function useDraft(key: string, text: string) {
  const ownId = useAuth().signIn?.user.userId;
  const ownKey = `${ownId} ${key}`;
  const [draft, setDraft] = useState(() => keptDraft<string>(ownKey));
  // At once: the person may leave the page with the next key.
  useLayoutEffect(() => keepDraft(ownKey, draft, draft !== null && draft !== text), [draft, ownKey]);
  return {
    draft,
    setDraft: (next: string | null) => {
      // Kept as the text of the panel, it has another key from now on.
      if (next === null) keepDraft(ownKey, null);
      setDraft(next);
    },
  };
}

/** The panel is no longer there: the browser asks for its draft no more. */
export const forgetDraft = (key: string) => keepDraft(`${authState().signIn?.user.userId} ${key}`, null);

function Editor(props: {
  draft: string;
  height: number;
  onDraft: (draft: string | null) => void;
  onKeep: () => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  // Before its first frame: keys that are pressed as soon as it is seen belong to it.
  useLayoutEffect(() => area.current?.focus(), []);
  return (
    <form
      class="text-panel-form"
      onSubmit={(event) => {
        event.preventDefault();
        props.onKeep();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') props.onDraft(null);
        else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onKeep();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <label class="field">
        <span class="visually-hidden">Text</span>
        <textarea
          ref={area}
          style={{ height: `${props.height}px` }}
          value={props.draft}
          onInput={(event) => props.onDraft(event.currentTarget.value)}
        />
        <span class="field-hint">{textHint(props.draft)}</span>
      </label>
      <div class="form-end">
        <button type="button" class="button button-small" onClick={() => props.onDraft(null)}>
          Cancel
        </button>
        <button
          type="submit"
          class="button button-small button-primary"
          aria-disabled={props.draft.length > maxCharacters}
          title="Ctrl+Enter"
        >
          Keep text
        </button>
      </div>
    </form>
  );
}
