import type { Annotation } from '../api.ts';
import type { CompareView } from './address.ts';
import { labelled, type Recording } from './model.ts';

/** How the recordings lie over each other, and what is drawn beside them. */
export function CompareTools(props: {
  view: CompareView;
  recordings: readonly Recording[];
  shown: readonly Recording[];
  against: Recording | null;
  annotations: ReadonlyMap<string, readonly Annotation[]>;
  change: (part: Partial<CompareView>) => void;
}) {
  const { view, recordings, shown, against, annotations, change } = props;
  const labels = [...new Set([...annotations.values()].flat().map(({ label }) => label))].sort();
  const { align } = view;
  const hasClock = recordings.every(({ kind }) => kind === 'absolute');
  const without =
    align.by === 'label'
      ? shown.filter((one) => labelled(annotations.get(one.sessionId), align.label, one.span) === null)
      : [];
  const toggle = (name: 'difference' | 'statistics', label: string) => (
    <button
      type="button"
      class="button button-small"
      aria-pressed={view[name]}
      onClick={() => change({ [name]: !view[name] })}
    >
      {label}
    </button>
  );
  return (
    <div class="compare-tools">
      <label class="compare-choice">
        <span>Align at</span>
        <select
          class="select"
          value={align.by === 'label' ? `label:${align.label}` : align.by}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const next: CompareView['align'] = value.startsWith('label:')
              ? { by: 'label', label: value.slice(6) }
              : { by: value === 'clock' ? 'clock' : 'start' };
            change({ align: next, span: null, a: null, b: null });
          }}
        >
          <option value="start">Start</option>
          <option value="clock" disabled={!hasClock}>
            Wall clock
          </option>
          {labels.map((label) => (
            <option key={label} value={`label:${label}`}>
              Annotation “{label}”
            </option>
          ))}
        </select>
      </label>
      <label class="compare-choice">
        <span>Compare with</span>
        <select
          class="select"
          value={against?.id ?? ''}
          onChange={(event) => change({ against: event.currentTarget.value })}
        >
          {shown.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {toggle('difference', 'Difference')}
      {toggle('statistics', 'Statistics')}
      {without.length > 0 && (
        <span class="faint" role="status">
          At the start, without this annotation: {without.map(({ title }) => title).join(', ')}
        </span>
      )}
    </div>
  );
}
