import type { ComponentChildren } from 'preact';
import { formatDuration } from '../format.ts';
import type { Segment } from './model.ts';

export interface WaterfallRow {
  readonly key: string;
  readonly label: ComponentChildren;
  /** Stands after the bar: outcome and duration. */
  readonly words: ComponentChildren;
  readonly segments: readonly Segment[];
}

/** Rows with their times on one common axis. The words beside the bars say the same. */
export function Waterfall(props: { label: string; rows: readonly WaterfallRow[] }) {
  const segments = props.rows.flatMap((row) => row.segments);
  if (segments.length === 0) return null;
  const fromMs = Math.min(...segments.map((segment) => segment.fromMs));
  const toMs = Math.max(...segments.map((segment) => segment.toMs), fromMs + 1);
  const percent = (ms: number) => `${((100 * ms) / (toMs - fromMs)).toFixed(3)}%`;
  return (
    <div class="waterfall">
      <ol class="waterfall-rows" aria-label={props.label}>
        {props.rows.map((row) => (
          <li key={row.key} class="waterfall-row">
            <span class="waterfall-label">{row.label}</span>
            <span class="waterfall-track" aria-hidden="true">
              {row.segments.map((segment) => (
                <span
                  key={`${segment.kind}-${segment.fromMs}`}
                  class={`waterfall-bar waterfall-${segment.kind}`}
                  title={segment.words}
                  style={{
                    // What is short stays in sight at the end too.
                    left: `min(${percent(segment.fromMs - fromMs)}, calc(100% - 2px))`,
                    width: percent(Math.max(0, segment.toMs - segment.fromMs)),
                  }}
                />
              ))}
            </span>
            <span class="waterfall-words">{row.words}</span>
          </li>
        ))}
      </ol>
      <p class="waterfall-key faint">
        <span class="waterfall-sign waterfall-waiting" /> waiting
        <span class="waterfall-sign waterfall-held" /> running
        <span class="waterfall-sign waterfall-done" /> done
        <span class="waterfall-sign waterfall-failed" /> failed
        <span class="waterfall-span">{formatDuration(toMs - fromMs)} in all</span>
      </p>
    </div>
  );
}
