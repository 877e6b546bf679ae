import { useState } from 'preact/hooks';
import { formatDifference, type Marks } from './marks.ts';
import type { TimeAxis } from './time-axis.ts';

const hiddenKey = 'sdp.dashboard-hint';

/** The two cursors that stay with the time between them; without any, how to put one and to move. */
export function MarkBar(props: {
  marks: Marks;
  axis: TimeAxis;
  /** Null where nothing can be annotated. */
  onAnnotate: ((fromMs: number, toMs: number | null) => void) | null;
}) {
  const { marks, axis, onAnnotate } = props;
  const { a, b } = marks;
  if (a === null && b === null) return <Hint annotates={onAnnotate !== null} />;
  return (
    <ul class="cursors" aria-label="Cursors">
      {(['a', 'b'] as const).map((name) => {
        const timeMs = marks[name];
        return timeMs === null ? null : <CursorMark key={name} name={name} timeMs={timeMs} axis={axis} />;
      })}
      {a !== null && b !== null && (
        <li class="cursor-mark">
          <strong>Δ</strong>{' '}
          <span class="cursor-time">{formatDifference(b - a, axis.stepMs, axis.clock)}</span>
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

function CursorMark({ name, timeMs, axis }: { name: 'a' | 'b'; timeMs: number; axis: TimeAxis }) {
  return (
    <li class="cursor-mark">
      <strong>{name.toUpperCase()}</strong> <span class="cursor-time">{axis.format(timeMs)}</span>
      <button
        type="button"
        class="legend-remove cursor-remove"
        aria-label={`Remove cursor ${name.toUpperCase()}`}
        onClick={() => axis.change({ [name]: null }, true)}
      >
        ×
      </button>
    </li>
  );
}

/** Explains the keys and the mouse, until the person hides it. */
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
