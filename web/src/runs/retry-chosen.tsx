import { useEffect, useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { textOf } from '../http.ts';
import { titleOf } from '../names.ts';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { changeRun, type NodeRun } from './api.ts';
import { isHopelessRetry } from './model.ts';

interface Retried {
  readonly retried: number;
  readonly problems: readonly string[];
}

/** `3 runs retried.` and the first problems. */
export const retriedWords = ({ retried, problems }: Retried) =>
  [`${plural(retried, 'run', 'runs')} retried.`, ...problems.slice(0, 3)].join(' ');

/** Retries runs, one after the other, and shows its progress and the result. */
export function useRetries(ended: () => void) {
  const [progress, setProgress] = useState<{ done: number; of: number } | null>(null);
  const [result, setResult] = useState<Retried | null>(null);
  const retry = async (runs: readonly NodeRun[]) => {
    if (progress !== null) return;
    const problems: string[] = [];
    for (const [done, run] of runs.entries()) {
      setProgress({ done, of: runs.length });
      await changeRun(run.id, 'retry').catch((error) =>
        problems.push(`${titleOf(run.nodeName)}: ${textOf(error)}`),
      );
    }
    setProgress(null);
    setResult({ retried: runs.length - problems.length, problems });
    ended();
  };
  return { busy: progress !== null, progress, result, retry, forget: () => setResult(null) };
}

/** The chosen runs, how to retry them, and what became of them. */
export function RetryChosen(props: { runs: readonly NodeRun[]; changed: () => void; clear: () => void }) {
  const { runs } = props;
  const { busy, result, retry, forget } = useRetries(() => {
    props.clear();
    props.changed();
  });
  const isChosen = runs.length > 0;
  // What became of others is old news.
  useEffect(() => {
    if (isChosen) forget();
  }, [isChosen]);
  const hopeless = runs.filter(isHopelessRetry).length;
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
            onClick={() => void retry(runs)}
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
        <Notice tone={result.problems.length === 0 ? 'done' : 'error'}>{retriedWords(result)}</Notice>
      )}
    </div>
  );
}
