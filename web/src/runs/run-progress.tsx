import { useNow } from '../hooks.ts';
import type { NodeRun } from './api.ts';
import { elapsedOf, isOpenRun, progressWords } from './model.ts';

/** How far an open run is, as its runner reports it, and how long it has taken. */
export function RunProgress({ run }: { run: NodeRun }) {
  const now = useNow(isOpenRun(run));
  const { progress = null, phase = null, message = null } = run.heldBy ?? {};
  const reported = [phase, message].filter(Boolean).join(': ');
  const doing = run.state === 'held' ? 'running' : 'waiting';
  const words = [`${doing} for ${elapsedOf(run, now)}`, progressWords(run, now), reported].filter(Boolean);
  return (
    <div class="run-progress">
      {progress !== null && progress.total !== null && progress.total > 0 && (
        <progress
          aria-label="Progress"
          max={progress.total}
          value={Math.min(progress.done, progress.total)}
        />
      )}
      <p class="faint">{words.join(' · ')}</p>
    </div>
  );
}
