import { useLayoutEffect } from 'preact/hooks';
import { type Alignment, alignmentText, type CompareView, readAlignment } from './address.ts';
import { type Anchors, anchorOf, commonValues, type StepStarts, stepMeasures } from './alignment.ts';
import type { Recording } from './model.ts';

/** How the recordings lie over each other, and what is drawn beside them. */
export function CompareTools(props: {
  view: CompareView;
  recordings: readonly Recording[];
  shown: readonly Recording[];
  against: Recording | null;
  anchors: Anchors;
  /** The values to align at are not read yet. */
  isSearching: boolean;
  change: (part: Partial<CompareView>) => void;
}) {
  const { view, recordings, shown, against, anchors, change } = props;
  const labels = [...new Set([...anchors.annotations.values()].flat().map(({ label }) => label))].sort();
  const { align } = view;
  const hasClock = recordings.every(({ kind }) => kind === 'absolute');
  const hasAnchor = align.by === 'label' || (align.by === 'step' && align.value !== '' && !props.isSearching);
  const without = hasAnchor ? shown.filter((one) => anchorOf(one, align, anchors) === null) : [];
  const steps = stepMeasures(recordings);
  const aligned = (next: Alignment) => change({ align: next, span: null, a: null, b: null });
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
          value={align.by === 'step' ? alignmentText({ ...align, value: '' }) : alignmentText(align)}
          onChange={(event) => aligned(readAlignment(event.currentTarget.value))}
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
          {steps.map((measure) => (
            <option key={measure} value={alignmentText({ by: 'step', measure, value: '' })}>
              {`Value of ${measure.replace(/ as (state|text)$/, '')}`}
            </option>
          ))}
        </select>
      </label>
      {align.by === 'step' && (
        <StepValue align={align} starts={anchors.starts} isSearching={props.isSearching} onAlign={aligned} />
      )}
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
          At the start, without it: {without.map(({ title }) => title).join(', ')}
        </span>
      )}
    </div>
  );
}

/** At which value of a step channel, of those that most recordings have. */
function StepValue(props: {
  align: Extract<Alignment, { by: 'step' }>;
  starts: StepStarts;
  isSearching: boolean;
  onAlign: (align: Alignment) => void;
}) {
  const { align, starts, onAlign } = props;
  const values = commonValues(starts);
  const first = values[0];
  // Before the list is shown: an effect after it would undo a value that is chosen at once.
  useLayoutEffect(() => {
    if (align.value === '' && first !== undefined && !props.isSearching) onAlign({ ...align, value: first });
  }, [align, first, props.isSearching]);
  if (props.isSearching) return <span class="faint" role="status">{`Reading ${align.measure} …`}</span>;
  return (
    <label class="compare-choice">
      <span>Value</span>
      <select
        class="select"
        value={align.value}
        onChange={(event) => onAlign({ ...align, value: event.currentTarget.value })}
      >
        {!values.includes(align.value) && <option value={align.value}>{align.value || '–'}</option>}
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}
