import { useState } from 'preact/hooks';
import type { Clock, View } from './address.ts';
import { formatDifference, type Marks } from './marks.ts';
import { formatMoment } from './time.ts';

const hiddenKey = 'sdp.dashboard-hint';

/** The two cursors that stay with the time between them; without any, how to put one and to move. */
export function MarkBar(props: {
  marks: Marks;
  clock: Clock;
  originMs: number;
  stepMs: number;
  onChange: (part: Partial<View>, replace: boolean) => void;
  /** Null where nothing can be annotated. */
  onAnnotate: ((fromMs: number, toMs: number | null) => void) | null;
}) {
  const { marks, onAnnotate } = props;
  const { a, b } = marks;
  const moment = (timeMs: number) => formatMoment(timeMs, props.clock, props.originMs, props.stepMs);
  if (a === null && b === null) return <Hint annotates={onAnnotate !== null} />;
  return (
    <ul class="cursors" aria-label="Cursors">
      {(['a', 'b'] as const).map((name) => {
        const timeMs = marks[name];
        if (timeMs === null) return null;
        return (
          <li key={name} class="cursor-mark">
            <strong>{name.toUpperCase()}</strong> <span class="cursor-time">{moment(timeMs)}</span>
            <button
              type="button"
              class="legend-remove cursor-remove"
              aria-label={`Remove cursor ${name.toUpperCase()}`}
              onClick={() => props.onChange({ [name]: null }, true)}
            >
              ×
            </button>
          </li>
        );
      })}
      {a !== null && b !== null && (
        <li class="cursor-mark">
          <strong>Δ</strong> <span class="cursor-time">{formatDifference(b - a, props.stepMs)}</span>
        </li>
      )}
      {onAnnotate !== null && (
        <li>
          <button
            type="button"
            class="button button-small button-quiet"
            onClick={() =>
              a !== null && b !== null
                ? onAnnotate(Math.min(a, b), Math.max(a, b))
                : onAnnotate(a ?? b ?? 0, null)
            }
          >
            {a !== null && b !== null ? 'Annotate A to B' : 'Annotate'}
          </button>
        </li>
      )}
    </ul>
  );
}

/** Where one looks, until it is put away. */
function Hint({ annotates }: { annotates: boolean }) {
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenKey) !== null);
  if (isHidden) return null;
  return (
    <p class="faint chart-help">
      Drag to zoom, double-click for everything, Ctrl and wheel to zoom at the pointer, wheel sideways to pan.
      {annotates && ' Alt and drag annotates.'} Click puts cursor A, Shift and click cursor B. Keys on a
      chart: arrows, Shift and arrows, plus, minus, A, B, {annotates && 'M, '}Escape.
      <button
        type="button"
        class="legend-remove cursor-remove"
        aria-label="Hide this hint"
        onClick={() => {
          localStorage.setItem(hiddenKey, 'hidden');
          setHidden(true);
        }}
      >
        ×
      </button>
    </p>
  );
}
