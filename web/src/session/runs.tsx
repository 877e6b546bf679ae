import { useState } from 'preact/hooks';
import type { NodeInstanceProgress } from '../api.ts';
import { reprocessNode } from '../api.ts';
import { formatDuration } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { type NodeRun, type NodeRunAttempt, readLastRun } from '../runs/api.ts';
import { isHopelessRetry, isOpenRun, phaseOf, reasonOf } from '../runs/model.ts';
import { RunActions } from '../runs/run-actions.tsx';
import { RunProgress } from '../runs/run-progress.tsx';
import { Ago, Moment } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { ReplaceInput } from './upload/replace-file.tsx';

interface Props {
  node: NodeInstanceProgress;
  nodes: readonly NodeInstanceProgress[];
  round: number;
  frozen: boolean;
  replace: (nodeInstanceId: number, file: File, identifier: string) => void;
}

/** The node's last run with its attempts and the way to its log, and the operators' actions. */
export function LastRun(props: Props) {
  const { node, round, frozen } = props;
  const { operate } = useAbilities();
  const run = useResource(String(node.id), (signal) => readLastRun(node.id, signal), { version: round });
  const isInput = isUploaded(node);
  const canReprocess = operate && !frozen && (!isInput || node.currentOutputId !== null);
  return (
    <>
      <div class="panel-part">
        <LastRunActions {...props} run={run.data} changed={run.reload} canReprocess={canReprocess} />
        {run.error !== null && (
          <Failure what="The runs could not be read." error={run.error} retry={run.reload} />
        )}
        {run.data !== null && isOpenRun(run.data) && <RunProgress run={run.data} />}
        {run.data !== null && <Attempts run={run.data} />}
      </div>
      <ConfigurationLoader
        nodeInstanceId={node.id}
        frozen={frozen}
        canRerun={canReprocess}
        opens={run.data !== null && isHopelessRetry(run.data)}
      />
    </>
  );
}

function LastRunActions(props: Props & { run: NodeRun | null; changed: () => void; canReprocess: boolean }) {
  const { run, changed } = props;
  return (
    <RunActions
      run={run}
      changed={changed}
      fix={
        !props.frozen &&
        run !== null && (
          <ReplaceInput
            key={run.id}
            runId={run.id}
            inputNodeIds={new Set(props.nodes.filter(isUploaded).map(({ id }) => id))}
            onFile={props.replace}
          />
        )
      }
      more={
        <>
          {props.canReprocess && <ReprocessButton nodeInstanceId={props.node.id} changed={changed} />}
          {run !== null && (
            <a class="button button-small" href={`/runs/${run.id}`}>
              <Icon name="list" />
              Logs
            </a>
          )}
        </>
      }
    />
  );
}

const isUploaded = (node: NodeInstanceProgress) => node.parentIds.length === 0;

/** The form's code is fetched with the first node. */
const ConfigurationLoader = lazy(
  () => import('../configuration/node-configuration.tsx').then((module) => module.NodeConfigurationPart),
  null,
);

function ReprocessButton(props: { nodeInstanceId: number; changed: () => void }) {
  const action = useAction();
  const [message, setMessage] = useState('');
  const start = async () => {
    const reply = await reprocessNode(props.nodeInstanceId);
    // That it is queued shows in the graph.
    setMessage(reply.message.replace('Reprocessing queued.', ''));
  };
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-disabled={action.busy}
        title="Runs again over the latest inputs and appends the outputs"
        onClick={async () => {
          if (await action.run(start)) props.changed();
        }}
      >
        <Icon name="play" />
        Reprocess
      </button>
      <span role="status">{message}</span>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </>
  );
}

/** Latest first. */
function Attempts(props: { run: NodeRun }) {
  const { run } = props;
  return (
    <>
      <div class="panel-line">
        <h3>Attempts of the last run</h3>
        <a class="faint" href={`/runs?node=${run.nodeInstanceId}&session=${run.sessionId}`}>
          All runs
        </a>
      </div>
      {run.attempts.length > 1 && (
        <p class="faint">
          After a failure the platform tries again by itself, up to attempt {run.maxAttempts}. A retry by a
          person allows more.
        </p>
      )}
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
  const reason = reasonOf(attempt);
  // The node's own notice has it in full.
  const isShownAbove = run.state === 'failed' && attempt.number === run.attempt;
  const isBad = attempt.outcome === 'failed' || attempt.outcome === 'lost';
  return (
    <li class={isBad ? 'attempt attempt-failed' : 'attempt'}>
      <strong>
        {attempt.number} of {run.maxAttempts}
      </strong>{' '}
      {phaseOf(attempt, run)}
      {attempt.outcome === null && attempt.startedAt !== null && ', started'}
      {at !== null && (
        <>
          {', '}
          <Ago at={at} />
        </>
      )}
      {took !== null && <span class="attempt-took">{took}</span>}
      {attempt.nextAttemptAt !== null && run.state === 'waiting' && attempt.number === run.attempt && (
        <div class="faint">
          next attempt <Moment at={attempt.nextAttemptAt} />
        </div>
      )}
      {reason !== '' && !isShownAbove && <div class="attempt-reason">{reason}</div>}
    </li>
  );
}
