import { useMemo, useRef, useState } from 'preact/hooks';
import type { Annotation } from '../api.ts';
import { changeAnnotation, createAnnotation, deleteAnnotation } from '../dashboard-api.ts';
import { formatCount, plural } from '../format.ts';
import { useAction } from '../hooks.ts';
import { DeleteButton } from '../ui/buttons.tsx';
import { changedFields } from '../ui/changed-fields.ts';
import { DeleteNamed, Dialog } from '../ui/dialog.tsx';
import { AreaField, Form, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { annotationsWith } from './annotation-search.ts';
import { type Draft, draftOf, fieldsOf, type useAnnotations } from './annotations.ts';

type State = ReturnType<typeof useAnnotations>;
/** This many annotations can be read at a glance. */
const fewAnnotations = 12;

/** `500 annotations`, `45 of 500 annotations`. */
const countOf = (shown: number, all: number) =>
  `${shown === all ? '' : `${formatCount(shown)} of `}${plural(all, 'annotation', 'annotations')}`;

interface ListProps {
  sessionId: string;
  state: State;
  /** A time as people read it. */
  format: (timeMs: number) => string;
  onGo: (annotation: Annotation) => void;
}

/** The session's annotations in the order of time, and the window to write one. */
export function AnnotationList(props: ListProps) {
  const { list, annotations, draft, setDraft } = props.state;
  const total = list.data?.totalCount ?? 0;
  const [text, setText] = useState('');
  const shown = useMemo(() => annotationsWith(annotations, text), [annotations, text]);
  const rows = useRows(shown, props);
  return (
    <section class="annotations" aria-label="Annotations">
      {list.error !== null && (
        <Failure what="The annotations could not be listed." error={list.error} retry={list.reload} />
      )}
      {total > 0 && (
        <div class="annotations-head">
          <h2>Annotations</h2>
          <span class="faint">{countOf(shown.length, total)}</span>
          {annotations.length > fewAnnotations && (
            <SearchField label="Search annotations" value={text} onValue={setText} />
          )}
        </div>
      )}
      <ul>{rows}</ul>
      {draft !== null && (
        <AnnotationForm
          key={draft.id ?? 'new'}
          sessionId={props.sessionId}
          draft={draft}
          format={props.format}
          onClose={() => setDraft(null)}
          onSaved={() => {
            setDraft(null);
            list.reload();
          }}
        />
      )}
    </section>
  );
}

function useRows(shown: readonly Annotation[], props: ListProps) {
  const onGo = useRef(props.onGo);
  onGo.current = props.onGo;
  // Hundreds of rows would else be compared at each step of a pan.
  return useMemo(
    () =>
      shown.map((annotation) => (
        <AnnotationRow
          key={annotation.id}
          annotation={annotation}
          format={props.format}
          onGo={() => onGo.current(annotation)}
          onEdit={() => props.state.setDraft(draftOf(annotation))}
        />
      )),
    [shown, props.format],
  );
}

function AnnotationRow(props: {
  annotation: Annotation;
  format: (timeMs: number) => string;
  onGo: () => void;
  onEdit: () => void;
}) {
  const { from, label, tags, text, createdByName } = props.annotation;
  return (
    <li class="annotation">
      <button type="button" class="channel-figure" onClick={props.onGo}>
        <span class="cursor-time">{props.format(Date.parse(from))}</span> <bdi>{label}</bdi>
      </button>
      {tags.map((tag) => (
        <span key={tag} class="annotation-tag">
          {tag}
        </span>
      ))}
      {text !== '' && <span class="faint annotation-text">{text}</span>}
      <span class="faint">{createdByName ?? ''}</span>
      <button
        type="button"
        class="button button-small button-quiet"
        aria-label={`Edit ${label}`}
        onClick={props.onEdit}
      >
        Edit
      </button>
    </li>
  );
}

function AnnotationForm(props: {
  sessionId: string;
  draft: Draft;
  format: (timeMs: number) => string;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { sessionId, format } = props;
  const [draft, setDraft] = useState(props.draft);
  const [deletes, setDeletes] = useState(false);
  const action = useAction();
  const set = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const { id, fromMs, toMs } = draft;
  const write = () =>
    id === null
      ? createAnnotation(sessionId, fieldsOf(draft))
      : changeAnnotation(sessionId, id, changedFields(fieldsOf(props.draft), fieldsOf(draft)));
  const save = async () => {
    if (await action.run(write)) props.onSaved();
  };
  if (id !== null && deletes)
    return (
      <DeleteNamed
        name={props.draft.label}
        what="annotation"
        remove={() => deleteAnnotation(sessionId, id).then(props.onSaved)}
        onClose={() => setDeletes(false)}
      >
        Everyone who sees this session loses it.
      </DeleteNamed>
    );
  return (
    <Dialog title={id === null ? 'New annotation' : 'Edit annotation'} onClose={props.onClose}>
      <Form
        action={action}
        verb={id === null ? 'Add annotation' : 'Save'}
        onSubmit={() => void save()}
        onCancel={props.onClose}
      >
        <p class="faint">
          {format(fromMs)}
          {toMs !== null && ` to ${format(toMs)}`}
        </p>
        <AnnotationFields draft={draft} set={set} />
        {id !== null && <DeleteButton what="annotation" onClick={() => setDeletes(true)} />}
      </Form>
    </Dialog>
  );
}

function AnnotationFields({ draft, set }: { draft: Draft; set: (part: Partial<Draft>) => void }) {
  return (
    <>
      <TextField label="Label" required value={draft.label} onValue={(label) => set({ label })} />
      <AreaField label="Text" rows={3} value={draft.text} onValue={(text) => set({ text })} />
      <TextField
        label="Tags"
        hint="Separated by commas."
        value={draft.tags}
        onValue={(tags) => set({ tags })}
      />
    </>
  );
}
