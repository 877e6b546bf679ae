import type { ComponentChildren } from 'preact';
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
  const { align } = view;
  const aligned = (next: Alignment) => change({ align: next, span: null, a: null, b: null });
  useLayoutEffect(() => {
    // One without a date was added, or a link names it: its axis begins in 1970.
    if (align.by === 'clock' && !haveDates(recordings)) aligned({ by: 'start' });
  }, [align, recordings]);
  return (
    <div class="compare-tools">
      <AlignChoice align={align} recordings={recordings} anchors={anchors} onAlign={aligned} />
      {align.by === 'step' && (
        <StepValue align={align} starts={anchors.starts} isSearching={props.isSearching} onAlign={aligned} />
      )}
      <Choice label="Compare with" value={against?.id ?? ''} onValue={(id) => change({ against: id })}>
        {shown.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </Choice>
      <Toggle label="Difference" isOn={view.difference} onToggle={(on) => change({ difference: on })} />
      <Toggle label="Statistics" isOn={view.statistics} onToggle={(on) => change({ statistics: on })} />
      <Remarks {...props} />
    </div>
  );
}

const haveDates = (recordings: readonly Recording[]) => recordings.every(({ kind }) => kind === 'absolute');

/** The recordings that do not lie as the others do. */
function Remarks(props: {
  view: CompareView;
  shown: readonly Recording[];
  anchors: Anchors;
  isSearching: boolean;
}) {
  const { align } = props.view;
  const hasAnchor = align.by === 'label' || (align.by === 'step' && align.value !== '' && !props.isSearching);
  const { shown } = props;
  const rows = shown.filter((one) => one.hasRowNumbers);
  const remarks = [
    [
      'At the start, without it',
      hasAnchor ? shown.filter((one) => anchorOf(one, align, props.anchors) === null) : [],
    ],
    ['Without a time, so each row takes a millisecond', rows.length < shown.length ? rows : []],
  ] as const;
  return (
    <>
      {remarks.map(
        ([words, of]) =>
          of.length > 0 && (
            <span key={words} class="faint" role="status">
              {words}: {of.map(({ title }) => title).join(', ')}
            </span>
          ),
      )}
    </>
  );
}

function Choice(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** Options. */
  children: ComponentChildren;
}) {
  return (
    <label class="compare-choice">
      <span>{props.label}</span>
      <select
        class="select"
        value={props.value}
        onChange={(event) => props.onValue(event.currentTarget.value)}
      >
        {props.children}
      </select>
    </label>
  );
}

function Toggle(props: { label: string; isOn: boolean; onToggle: (on: boolean) => void }) {
  return (
    <button
      type="button"
      class="button button-small"
      aria-pressed={props.isOn}
      onClick={() => props.onToggle(!props.isOn)}
    >
      {props.label}
    </button>
  );
}

/** What lies at zero. */
function AlignChoice(props: {
  align: Alignment;
  recordings: readonly Recording[];
  anchors: Anchors;
  onAlign: (align: Alignment) => void;
}) {
  const { align, recordings, anchors } = props;
  const labels = [...new Set([...anchors.annotations.values()].flat().map(({ label }) => label))].sort();
  return (
    <Choice
      label="Align at"
      value={align.by === 'step' ? alignmentText({ ...align, value: '' }) : alignmentText(align)}
      onValue={(text) => props.onAlign(readAlignment(text))}
    >
      <option value="start">Start</option>
      <option value="clock" disabled={!haveDates(recordings)}>
        Wall clock
      </option>
      {labels.map((label) => (
        <option key={label} value={`label:${label}`}>
          Annotation “{label}”
        </option>
      ))}
      {stepMeasures(recordings).map((measure) => (
        <option key={measure} value={alignmentText({ by: 'step', measure, value: '' })}>
          {`Value of ${measure.replace(/ as (state|text)$/, '')}`}
        </option>
      ))}
    </Choice>
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
    <Choice label="Value" value={align.value} onValue={(value) => onAlign({ ...align, value })}>
      {!values.includes(align.value) && <option value={align.value}>{align.value || '–'}</option>}
      {values.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </Choice>
  );
}
