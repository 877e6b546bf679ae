import { useState } from 'preact/hooks';
import { ConnectRunner } from '../admin/connect-runner.tsx';
import { DeployedRunners } from '../admin/deployed-runners.tsx';
import { Queues } from '../admin/queues.tsx';
import { RunnerTokens } from '../admin/runner-tokens.tsx';
import type { RunnerInstance } from '../admin-api.ts';
import { listRunners, setDrained } from '../admin-api.ts';
import { formatDateTime, plural } from '../format.ts';
import { useAction, useResource, useTitle } from '../hooks.ts';
import { runnerTitle, titleOf } from '../names.ts';
import { navigate, useAddress } from '../router.ts';
import { readPage } from '../sessions/address.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { Table } from '../ui/table.tsx';

/** Runner instances with their tasks and drain state; below them the tokens of runners. */
export function RunnersPage() {
  useTitle('Runners');
  const { query } = useAddress();
  const number = readPage(query);
  const list = useResource(String(number), (signal) => listRunners(number, signal), {
    keepWhileLoading: true,
  });
  const [connecting, setConnecting] = useState(false);
  /** Grows with every token that was made. */
  const [tokens, setTokens] = useState(0);
  const page = list.data;
  return (
    <div class="page">
      <div class="page-head">
        <h1>Runners</h1>
        <div class="actions">
          <button
            type="button"
            class="button button-small"
            aria-disabled={list.loading}
            onClick={list.reload}
          >
            Refresh
          </button>
          <button type="button" class="button button-primary" onClick={() => setConnecting(true)}>
            <Icon name="plus" />
            Connect a runner
          </button>
        </div>
      </div>
      <Queues />
      {list.error !== null && (
        <Failure what="The runners could not be listed." error={list.error} retry={list.reload} />
      )}
      {page === null && list.error === null && <Placeholder rows={3} label="Loading runners" />}
      {page !== null && page.runners.length === 0 && (
        <Empty title="No runners yet">
          <p>A runner appears here with its first claim. It needs one of the tokens below.</p>
        </Empty>
      )}
      {page !== null && page.runners.length > 0 && (
        <>
          <RunnerTable runners={page.runners} busy={list.loading} changed={list.reload} />
          <Paging
            page={page.page}
            totalPages={page.totalPages}
            summary={plural(page.totalCount, 'runner', 'runners')}
            onPage={(page) => navigate(page === 1 ? '/runners' : `/runners?page=${page}`)}
          />
        </>
      )}
      {page !== null && page.deployed.length > 0 && <DeployedRunners deployed={page.deployed} />}
      <RunnerTokens key={tokens} />
      {connecting && (
        <ConnectRunner
          changed={() => setTokens(tokens + 1)}
          onClose={() => {
            setConnecting(false);
            list.reload();
          }}
        />
      )}
    </div>
  );
}

function RunnerTable(props: { runners: readonly RunnerInstance[]; busy: boolean; changed: () => void }) {
  const action = useAction();
  return (
    <>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <Table caption="Runners" columns={['Runner', 'Types', 'Works on', 'Seen']} actions busy={props.busy}>
        {props.runners.map((runner) => (
          <RunnerRow
            key={runner.id}
            runner={runner}
            busy={action.busy}
            onDrain={async (drained) => {
              if (await action.run(() => setDrained(runner.id, drained))) props.changed();
            }}
          />
        ))}
      </Table>
    </>
  );
}

function RunnerRow(props: {
  runner: RunnerInstance;
  busy: boolean;
  onDrain: (drained: boolean) => Promise<void>;
}) {
  const { runner } = props;
  const { task } = runner;
  return (
    <tr>
      <td class="wrap-anywhere">
        <strong title={runner.instanceId}>{runnerTitle(runner.instanceId, runner.tokenLabel)}</strong>
        <span class="tag">{runner.state}</span>
        {runner.drained && runner.state !== 'drained' && <span class="tag">drained</span>}
        <div class="faint">
          {[
            callerOf(runner),
            runner.version,
            runner.hosting === 'deployed' ? 'started by the platform' : null,
          ]
            .filter((text) => text !== null)
            .join(' · ')}
        </div>
      </td>
      <td data-label="Types" class="wrap-anywhere">
        {runner.runnerTypes.join(', ')}
      </td>
      <td data-label="Works on">
        {task === null ? (
          'nothing'
        ) : (
          <>
            <a href={`/sessions/${task.sessionId}?node=${task.nodeInstanceId}`}>{titleOf(task.nodeName)}</a>
            <div class="faint">
              attempt {task.attempt}
              {task.phase !== null && task.phase !== '' ? `, ${task.phase}` : ''}, since{' '}
              {formatDateTime(task.claimedAt)}
            </div>
          </>
        )}
      </td>
      <td data-label="Seen" class="nowrap">
        <Ago at={runner.lastSeenAt} />
      </td>
      <td class="table-actions">
        <button
          type="button"
          class="button button-small"
          aria-disabled={props.busy}
          aria-label={`${runner.drained ? 'Resume' : 'Drain'} ${runnerTitle(runner.instanceId, runner.tokenLabel)}`}
          title={
            runner.drained ? 'The runner gets tasks again' : 'The runner finishes its task and gets no more'
          }
          onClick={() => void props.onDrain(!runner.drained)}
        >
          {runner.drained ? 'Resume' : 'Drain'}
        </button>
      </td>
    </tr>
  );
}

function callerOf({ kind, tokenLabel, tokenHint }: RunnerInstance): string {
  if (kind === 'account') return 'by an account';
  const label = tokenLabel === null || tokenLabel === '' ? 'token' : tokenLabel;
  return tokenHint === null ? label : `${label} …${tokenHint}`;
}
