import { useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { textOf } from '../http.ts';
import { titleOf } from '../names.ts';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { changeRun, type NodeRun } from './api.ts';
import { isHopelessRetry } from './model.ts';

/** Retries the chosen runs, one after the other, and says what became of them. */
export function RetryChosen(props: { runs: readonly NodeRun[]; changed: () => void; clear: () => void }) {
  const { runs } = props;
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<{ retried: number; problems: readonly string[] } | null>(null);
  const hopeless = runs.filter(isHopelessRetry).length;
  const retry = async () => {
    if (busy) return;
    setBusy(true);
    const problems = await retryEach(runs);
    setBusy(false);
    setResult({ retried: runs.length - problems.length, problems });
    props.clear();
    props.changed();
  };
  if (runs.length === 0 && result === null) return null;
  return (
    <div class="runs-chosen">
      {runs.length > 0 && (
        <div class="actions">
          <strong>{plural(runs.length, 'run', 'runs')} chosen</strong>
          <button
            type="button"
            class="button button-small button-primary"
            aria-disabled={busy}
            onClick={() => void retry()}
          >
            <Icon name="reset" />
            Retry
          </button>
          <button type="button" class="button button-small button-quiet" onClick={props.clear}>
            Choose none
          </button>
          {hopeless > 0 && (
            <span class="faint">
              {plural(hopeless, 'run has', 'runs have')} invalid input or configuration and would fail again.
            </span>
          )}
        </div>
      )}
      {result !== null && runs.length === 0 && (
        <Notice tone={result.problems.length === 0 ? 'done' : 'error'}>
          {plural(result.retried, 'run', 'runs')} retried. {result.problems.slice(0, 3).join(' ')}
        </Notice>
      )}
    </div>
  );
}

/** What went wrong, for each run that was not retried. */
async function retryEach(runs: readonly NodeRun[]): Promise<string[]> {
  const problems: string[] = [];
  for (const run of runs) {
    await changeRun(run.id, 'retry').catch((error) =>
      problems.push(`${titleOf(run.nodeName)}: ${textOf(error)}`),
    );
  }
  return problems;
}
