import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { changeRun, type NodeRun } from './api.ts';
import { isHopelessRetry, isOpenRun } from './model.ts';

/**
 * Retries or cancels a run. A retry comes first only where it can help; `fix` comes first where it cannot. `more` are
 * actions beside these.
 */
export function RunActions(props: {
  run: NodeRun | null;
  changed: () => void;
  fix?: ComponentChildren;
  more?: ComponentChildren;
}) {
  const { run } = props;
  const { operate } = useAbilities();
  const action = useAction();
  const [cancels, setCancels] = useState(false);
  const isHopeless = run !== null && isHopelessRetry(run);
  const isOpen = run !== null && isOpenRun(run);
  const retry = async (runId: string) => {
    if (await action.run(() => changeRun(runId, 'retry'))) props.changed();
  };
  return (
    <div class="run-actions">
      <div class="actions">
        {isHopeless && props.fix}
        {operate && run?.retryable === true && (
          <button
            type="button"
            class={`button button-small${isHopeless ? '' : ' button-primary'}`}
            aria-disabled={action.busy}
            title={isHopeless ? 'The same inputs and configuration would fail again' : undefined}
            onClick={() => void retry(run.id)}
          >
            <Icon name="reset" />
            Retry
          </button>
        )}
        {props.more}
        {operate && isOpen && !run.cancelRequested && (
          <button type="button" class="button button-small" onClick={() => setCancels(true)}>
            <Icon name="cross" />
            Cancel run
          </button>
        )}
      </div>
      {isOpen && run.cancelRequested && <p class="faint">The run is being cancelled.</p>}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {cancels && run !== null && (
        <CancelRun run={run} changed={props.changed} onClose={() => setCancels(false)} />
      )}
    </div>
  );
}

function CancelRun(props: { run: NodeRun; changed: () => void; onClose: () => void }) {
  const { run } = props;
  return (
    <Confirm
      title={
        <>
          Cancel the run of <bdi>{titleOf(run.nodeName)}</bdi>?
        </>
      }
      verb="Cancel the run"
      keep="Keep running"
      act={async () => {
        await changeRun(run.id, 'cancel');
        props.changed();
      }}
      onClose={props.onClose}
    >
      What it has not published is lost, and its inputs count as processed. The node stays failed until the
      run is retried, the node is reprocessed or new input arrives.
    </Confirm>
  );
}
