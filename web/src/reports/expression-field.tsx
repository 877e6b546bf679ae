import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Candidate, type Completion, complete, completed } from './completion.ts';

interface Props {
  value: string;
  candidates: readonly Candidate[];
  onValue: (value: string) => void;
}

/** A field for an expression that suggests names while they are written. */
export function ExpressionField(props: Props) {
  const listId = useId();
  const { input, open, active, onInput, onKeyDown, take, close } = useCompletion(props);
  return (
    <span class="expression-field">
      <input
        ref={input}
        class="select mono-input"
        required
        role="combobox"
        aria-expanded={open !== null}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open === null ? undefined : `${listId}-${active}`}
        autocomplete="off"
        spellcheck={false}
        autocapitalize="none"
        value={props.value}
        onInput={(event) => onInput(event.currentTarget)}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      {open !== null && (
        <span class="expression-names" id={listId} role="listbox" aria-label="Names">
          {open.candidates.map((candidate, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
            <span
              key={candidate.text}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(candidate)}
            >
              {candidate.text} {candidate.detail !== '' && <span class="faint">{candidate.detail}</span>}
            </span>
          ))}
        </span>
      )}
    </span>
  );
}

/** The names that are suggested at the cursor, the active one of them, and what the keys of the field do with them. */
function useCompletion({ value, candidates, onValue }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const cursor = useRef<number | null>(null);
  const [open, setOpen] = useState<Completion | null>(null);
  const [active, setActive] = useState(0);
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    input.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  });
  const onInput = (field: HTMLInputElement) => {
    const { value: text, selectionStart } = field;
    onValue(text);
    setOpen(complete(text, selectionStart ?? text.length, candidates));
    setActive(0);
  };
  const take = (candidate: Candidate) => {
    if (open === null) return;
    const next = completed(value, open, candidate);
    cursor.current = next.cursor;
    onValue(next.expression);
    setOpen(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (open === null) return;
    const { length } = open.candidates;
    const chosen = open.candidates[active];
    if (event.key === 'ArrowDown') setActive((active + 1) % length);
    else if (event.key === 'ArrowUp') setActive((active + length - 1) % length);
    else if (event.key === 'Escape') setOpen(null);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen !== undefined) take(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { input, open, active, onInput, onKeyDown, take, close: () => setOpen(null) };
}
