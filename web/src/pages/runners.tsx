import { useState } from 'preact/hooks';
import { ConnectRunner } from '../admin/connect-runner.tsx';
import { DeployedRunners } from '../admin/deployed-runners.tsx';
import { Queues } from '../admin/queues.tsx';
import { RunnerTokens } from '../admin/runner-tokens.tsx';
import type { RunnerInstance, RunnerInstanceList } from '../admin-api.ts';
import { listRunners, setDrained } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useAction, useEvery, useResource, useTitle } from '../hooks.ts';
import { runnerTitle, titleOf } from '../names.ts';
import { navigate, useAddress } from '../router.ts';
import { readPage } from '../sessions/address.ts';
import { Ago, Moment } from '../ui/ago.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { Paging, useLastPage } from '../ui/paging.tsx';
import { refreshMs } from '../ui/refreshed-list.ts';
import { Table } from '../ui/table.tsx';

/** Runner instances with their tasks and drain state; below them the tokens of runners. */
export function RunnersPage() {
  useTitle('Runners');
  const { query } = useAddress();
  const number = readPage(query);
  const list = useLastPage(
    useResource(String(number), (signal) => listRunners(number, signal), { keepWhileLoading: true }),
  );
  useEvery(refreshMs, list.data !== null, list.reload);
  const [connecting, setConnecting] = useState(false);
  /** Grows with every token that was made. */
  const [tokens, setTokens] = useState(0);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Runners</h1>
        <div class="actions">
          <AddButton onClick={() => setConnecting(true)}>Connect a runner</AddButton>
        </div>
      </div>
      <Queues />
      <Loaded of={list} failure="The runners could not be listed." rows={3} label="Loading runners">
        {(page) => (
          <>
            <RunnerList page={page} busy={list.loading && page.page !== number} changed={list.reload} />
            {page.deployed.length > 0 && <DeployedRunners deployed={page.deployed} />}
          </>
        )}
      </Loaded>
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

function RunnerList(props: { page: RunnerInstanceList; busy: boolean; changed: () => void }) {
  const { page } = props;
  if (page.runners.length === 0)
    return (
      <Empty title="No runners yet">
        <p>A runner appears here with its first claim. It needs one of the tokens below.</p>
      </Empty>
    );
  return (
    <>
      <RunnerTable runners={page.runners} busy={props.busy} changed={props.changed} />
      <Paging
        page={page.page}
        totalPages={page.totalPages}
        summary={plural(page.totalCount, 'runner', 'runners')}
        onPage={(number) => navigate(number === 1 ? '/runners' : `/runners?page=${number}`)}
      />
    </>
  );
}

function RunnerTable(props: { runners: readonly RunnerInstance[]; busy: boolean; changed: () => void }) {
  const action = useAction();
  return (
    <>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <Table
        caption="Runners"
        columns={['Runner', 'Runner types', 'Works on', 'Last seen']}
        actions
        busy={props.busy}
      >
        {props.runners.map((runner) => (
          <RunnerRow
            key={runner.id}
            runner={runner}
            isAlone={props.runners.every((other) => other === runner || nameOf(other) !== nameOf(runner))}
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

const nameOf = ({ instanceId, tokenLabel }: RunnerInstance) => runnerTitle(instanceId, tokenLabel);

function RunnerRow(props: {
  runner: RunnerInstance;
  /** No other one of the list has its name. */
  isAlone: boolean;
  busy: boolean;
  onDrain: (drained: boolean) => Promise<void>;
}) {
  const { runner } = props;
  const title = nameOf(runner);
  const isNamed = props.isAlone || title === runner.instanceId;
  return (
    <tr>
      <td class="wrap-anywhere">
        <strong title={runner.instanceId}>{title}</strong>
        <span class="tag">{runner.state}</span>
        {runner.drained && runner.state !== 'drained' && <span class="tag">drained</span>}
        <div class="faint">
          {[
            // All runners of a token have its label, and those of a machine its name.
            isNamed && title !== runner.tokenLabel ? null : runner.instanceId,
            title === runner.tokenLabel ? hintOf(runner) : callerOf(runner),
            runner.version,
            runner.hosting === 'deployed' ? 'started by the platform' : null,
          ]
            .filter((text) => text !== null)
            .join(' · ')}
        </div>
      </td>
      <td data-label="Runner types" class="wrap-anywhere">
        {runner.runnerTypes.join(', ')}
      </td>
      <td data-label="Works on">
        <WorksOn task={runner.task} />
      </td>
      <td data-label="Last seen" class="nowrap">
        <Ago at={runner.lastSeenAt} />
      </td>
      <td class="table-actions">
        <DrainButton
          runner={runner}
          name={isNamed ? title : `${title}, ${runner.instanceId}`}
          busy={props.busy}
          onDrain={props.onDrain}
        />
      </td>
    </tr>
  );
}

function WorksOn({ task }: { task: RunnerInstance['task'] }) {
  if (task === null) return <>nothing</>;
  return (
    <>
      <a href={`/sessions/${task.sessionId}?node=${task.nodeInstanceId}`}>{titleOf(task.nodeName)}</a>
      <div class="faint">
        attempt {task.attempt}
        {task.phase !== null && task.phase !== '' ? `, ${task.phase}` : ''}, since{' '}
        <Moment at={task.claimedAt} />
      </div>
    </>
  );
}

function DrainButton(props: {
  runner: RunnerInstance;
  name: string;
  busy: boolean;
  onDrain: (drained: boolean) => Promise<void>;
}) {
  const { drained } = props.runner;
  const verb = drained ? 'Resume' : 'Drain';
  return (
    <button
      type="button"
      class="button button-small"
      aria-disabled={props.busy}
      aria-label={`${verb} ${props.name}`}
      title={drained ? 'The runner gets tasks again' : 'The runner finishes its task and gets no more'}
      onClick={() => void props.onDrain(!drained)}
    >
      {verb}
    </button>
  );
}

const hintOf = ({ tokenHint }: RunnerInstance) => (tokenHint === null ? null : `token …${tokenHint}`);

function callerOf(runner: RunnerInstance): string {
  const { kind, tokenLabel, tokenHint } = runner;
  if (kind === 'account') return 'by an account';
  if (tokenLabel === null || tokenLabel === '') return hintOf(runner) ?? 'token';
  return tokenHint === null ? tokenLabel : `${tokenLabel} …${tokenHint}`;
}
