import { useEffect, useId, useRef } from 'preact/hooks';
import type { Fault } from './json-places.ts';

/** A JSON document as text with numbered lines; the lines with faults are marked, and each fault leads to its place. */
export function JsonEditor(props: {
  label: string;
  value: string;
  /** The faults of the present text. */
  faults: readonly Fault[];
  /** The title above the faults: `3 faults: no version was made`. */
  faultsTitle: string;
  onValue: (value: string) => void;
}) {
  const { value, faults } = props;
  const id = useId();
  const lines = value.split('\n').length;
  const { frame, field, show } = useFaultPlaces(faults, lines);
  return (
    <div class="field json-field">
      <label for={id}>{props.label}</label>
      <div class="json-editor" ref={frame}>
        <pre class="json-lines" aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => index + 1).join('\n')}
        </pre>
        <div class="json-text">
          {[...new Set(faults.map(({ place }) => place.line))].map((line) => (
            <div key={line} class="json-mark" style={{ top: `calc(${line - 1} * var(--json-line))` }} />
          ))}
          <textarea
            ref={field}
            id={id}
            class="code"
            wrap="off"
            rows={lines}
            spellcheck={false}
            aria-invalid={faults.length > 0}
            aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
            value={value}
            onInput={(event) => props.onValue(event.currentTarget.value)}
          />
        </div>
      </div>
      {faults.length > 0 && (
        <Faults id={`${id}-faults`} title={props.faultsTitle} faults={faults} show={show} />
      )}
    </div>
  );
}

/** Leads to the places of faults in the field: of new faults to that of the first. */
function useFaultPlaces(faults: readonly Fault[], lines: number) {
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const show = ({ place }: Fault) => {
    if (field.current === null || frame.current === null) return;
    field.current.focus({ preventScroll: true });
    field.current.setSelectionRange(place.start, place.end);
    const lineHeight = field.current.offsetHeight / lines;
    frame.current.scrollTop = Math.max(0, (place.line - 4) * lineHeight);
  };
  useEffect(() => {
    if (faults[0] !== undefined) show(faults[0]);
  }, [faults]);
  return { frame, field, show };
}

function Faults(props: {
  id: string;
  title: string;
  faults: readonly Fault[];
  show: (fault: Fault) => void;
}) {
  return (
    <section class="issues state-failed" id={props.id} role="alert">
      <h3>{props.title}</h3>
      <ul>
        {props.faults.map((fault) => (
          <li key={`${fault.path} ${fault.message}`}>
            <button type="button" class="link-button" onClick={() => props.show(fault)}>
              Line {fault.place.line}
            </button>{' '}
            {fault.path !== null && <code>{fault.path}</code>} {fault.message}
          </li>
        ))}
      </ul>
    </section>
  );
}
