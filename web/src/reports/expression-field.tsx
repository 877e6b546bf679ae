import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Candidate, type Completion, complete, completed } from './completion.ts';

/** A field for an expression that suggests names while they are written. */
export function ExpressionField(props: {
  value: string;
  candidates: readonly Candidate[];
  onValue: (value: string) => void;
}) {
  const { value, candidates, onValue } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const cursor = useRef<number | null>(null);
  const [open, setOpen] = useState<Completion | null>(null);
  const [active, setActive] = useState(0);
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    input.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  });
  const suggest = (text: string, at: number | null) => {
    setOpen(complete(text, at ?? text.length, candidates));
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
        value={value}
        onInput={({ currentTarget }) => {
          onValue(currentTarget.value);
          suggest(currentTarget.value, currentTarget.selectionStart);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(null)}
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
