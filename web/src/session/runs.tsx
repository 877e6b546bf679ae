import { useState } from 'preact/hooks';
import type { NodeInstanceProgress, NodeRun, NodeRunAttempt } from '../api.ts';
import { changeRun, readLastRun, reprocessNode } from '../api.ts';
import { formatDateTime, formatDuration } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Failure, Notice } from '../ui/notice.tsx';

/** The node's last run with its attempts, and the operators' actions. */
export function LastRun(props: { node: NodeInstanceProgress; round: number; frozen: boolean }) {
  const { node, round, frozen } = props;
  const run = useResource(`${node.id}:${round}`, (signal) => readLastRun(node.id, signal), {
    keepWhileLoading: true,
  });
  const isInput = node.parentIds.length === 0;
  return (
    <div class="panel-part">
      <RunActions
        run={run.data}
        node={node}
        canReprocess={!frozen && (!isInput || node.currentOutputId !== null)}
        changed={run.reload}
      />
      {run.error !== null && (
        <Failure what="The runs could not be read." error={run.error} retry={run.reload} />
      )}
      {run.data !== null && run.data !== undefined && <Attempts run={run.data} />}
    </div>
  );
}

function RunActions(props: {
  run: NodeRun | null;
  node: NodeInstanceProgress;
  canReprocess: boolean;
  changed: () => void;
}) {
  const { run, node } = props;
  const action = useAction();
  const [cancels, setCancels] = useState(false);
  const isOpen = run !== null && ['queued', 'held', 'waiting'].includes(run.state);
  const act = async (work: () => Promise<unknown>) => {
    if (await action.run(work)) props.changed();
  };
  return (
    <>
      <div class="actions">
        {run?.retryable === true && (
          <button
            type="button"
            class="button button-small button-primary"
            aria-disabled={action.busy}
            onClick={() => void act(() => changeRun(run.id, 'retry'))}
          >
            <Icon name="reset" />
            Retry
          </button>
        )}
        {props.canReprocess && (
          <button
            type="button"
            class="button button-small"
            aria-disabled={action.busy}
            title="Runs once more over the latest inputs and appends what comes out"
            onClick={() => void act(() => reprocessNode(node.id))}
          >
            <Icon name="play" />
            Reprocess
          </button>
        )}
        {isOpen && !run.cancelRequested && (
          <button type="button" class="button button-small" onClick={() => setCancels(true)}>
            <Icon name="cross" />
            Cancel run
          </button>
        )}
      </div>
      {isOpen && run.cancelRequested && <p class="faint">The run has been asked to stop.</p>}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {cancels && run !== null && (
        <Confirm
          title={`Cancel the run of ${node.name}?`}
          verb="Cancel the run"
          act={async () => {
            await changeRun(run.id, 'cancel');
            props.changed();
          }}
          onClose={() => setCancels(false)}
        >
          What it has written is dropped, and its inputs count as used. The node is Failed until the run is
          tried again, it is reprocessed or new input comes.
        </Confirm>
      )}
    </>
  );
}

const outcomes: Record<string, string> = {
  completed: 'completed',
  'no-output': 'completed without output',
  suspended: 'suspended',
  failed: 'failed',
  lost: 'lost: its runner was not heard of any more',
  cancelled: 'cancelled',
};

/** Latest first. */
function Attempts(props: { run: NodeRun }) {
  const { run } = props;
  return (
    <>
      <h3>Attempts of the last run</h3>
      <ol class="attempts" aria-label="Attempts of the last run">
        {[...run.attempts].reverse().map((attempt) => (
          <AttemptItem key={attempt.number} attempt={attempt} run={run} />
        ))}
      </ol>
    </>
  );
}

function AttemptItem(props: { attempt: NodeRunAttempt; run: NodeRun }) {
  const { attempt, run } = props;
  const at = attempt.endedAt ?? attempt.startedAt;
  const took =
    attempt.startedAt !== null && attempt.endedAt !== null
      ? `took ${formatDuration(Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt))}`
      : null;
  const isBad = attempt.outcome === 'failed' || attempt.outcome === 'lost';
  return (
    <li class={isBad ? 'attempt attempt-failed' : 'attempt'}>
      <strong>
        {attempt.number} of {run.maxAttempts}
      </strong>{' '}
      {phaseOf(attempt, run)}
      {at !== null && (
        <>
          {', '}
          <Ago at={at} />
        </>
      )}
      {took !== null && <span class="attempt-took">{took}</span>}
      {attempt.nextAttemptAt !== null && run.state === 'waiting' && attempt.number === run.attempt && (
        <div class="faint">
          next attempt <time dateTime={attempt.nextAttemptAt}>{formatDateTime(attempt.nextAttemptAt)}</time>
        </div>
      )}
      {(attempt.reason !== '' || attempt.category !== null) && (
        <div class="attempt-reason">
          {[attempt.category, attempt.reason].filter((text) => text !== null && text !== '').join(': ')}
        </div>
      )}
    </li>
  );
}

function phaseOf(attempt: NodeRunAttempt, run: NodeRun): string {
  if (attempt.outcome !== null) return outcomes[attempt.outcome] ?? attempt.outcome;
  if (attempt.startedAt === null) return 'not begun';
  return run.heldBy === null ? 'begun' : `held by ${run.heldBy.instanceId}, begun`;
}
