import { useResource, useSettled } from '../../hooks.ts';
import { titleOf } from '../../names.ts';
import { navigate, useAddress } from '../../router.ts';
import { runsAddress } from '../../runs/list-model.ts';
import { LogPanel } from '../../runs/log-panel.tsx';
import { elapsedOf } from '../../runs/model.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { listRuns, type NodeRun } from '../../runs-api.ts';
import { Ago } from '../../ui/ago.tsx';
import { Empty, Failure, Placeholder } from '../../ui/notice.tsx';
import { tabAddress } from './address.ts';
import type { TabProps } from './props.ts';
import '../../styles/runs/runs.css';

/** Changes come in bursts; one request follows a burst. */
const settleMs = 500;
const pageSize = 100;

/** The log of the last run of each node. */
export function Logs({ session, followed }: TabProps) {
  const { query } = useAddress();
  const round = useSettled(followed.round, settleMs);
  const list = useResource(
    `${session.id}:${round}`,
    (signal) => listRuns({ sessionId: session.id, pageSize }, signal),
    { keepWhileLoading: true },
  );
  const last = lastOfEachNode(list.data?.nodeRuns ?? []);
  const asked = last.find(({ nodeInstanceId }) => String(nodeInstanceId) === query.get('node'));
  const run = asked ?? last.find(({ state }) => state === 'failed') ?? last[0];
  return (
    <>
      {list.error !== null && (
        <Failure what="The runs could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={4} label="Loading the runs" />}
      {list.data !== null && run === undefined && (
        <Empty title="No logs yet">
          <p>A node has a log when it has run.</p>
        </Empty>
      )}
      {run !== undefined && (
        <div class="session-logs">
          <nav class="choices" aria-label="Nodes with logs">
            {last.map((one) => (
              <a
                key={one.id}
                href={tabAddress(session.id, 'logs', one.nodeInstanceId)}
                {...(one.id === run.id ? { 'aria-current': 'true' } : {})}
                onClick={(event) => {
                  event.preventDefault();
                  navigate(tabAddress(session.id, 'logs', one.nodeInstanceId), { replace: true });
                }}
              >
                <span>{titleOf(one.nodeName)}</span>
                <RunBadge state={one.state} />
                <span class="faint">
                  <Ago at={one.createdAt} />, {elapsedOf(one, Date.now())}
                </span>
              </a>
            ))}
            <a class="faint" href={runsAddress({ sessionId: session.id })}>
              All runs of this session
            </a>
          </nav>
          <LogPanel key={run.id} run={run} ended={list.reload} />
        </div>
      )}
    </>
  );
}

/** Runs come newest first. */
function lastOfEachNode(runs: readonly NodeRun[]): NodeRun[] {
  return [...Map.groupBy(runs, ({ nodeInstanceId }) => nodeInstanceId).values()].map(([first]) => first!);
}
