import { useResource } from '../../hooks.ts';
import { titleOf } from '../../names.ts';
import { navigate, useAddress } from '../../router.ts';
import { runsAddress } from '../../runs/address.ts';
import { LogPanel } from '../../runs/log-panel.tsx';
import { elapsedOf } from '../../runs/model.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { listRuns, type NodeRun } from '../../runs-api.ts';
import { Ago } from '../../ui/ago.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Empty } from '../../ui/notice.tsx';
import { tabAddress } from './address.ts';
import type { TabProps } from './props.ts';
import '../../styles/runs/runs.css';

const pageSize = 100;

/** The log of the last run of each node. */
export function Logs({ session, followed }: TabProps) {
  const { query } = useAddress();
  const list = useResource(session.id, (signal) => listRuns({ sessionId: session.id, pageSize }, signal), {
    version: followed.round,
  });
  const last = lastOfEachNode(list.data?.nodeRuns ?? []);
  const asked = last.find(({ nodeInstanceId }) => String(nodeInstanceId) === query.get('node'));
  const run = asked ?? last.find(({ state }) => state === 'failed') ?? last[0];
  return (
    <Loaded of={list} failure="The runs could not be read." rows={4} label="Loading the runs">
      {() =>
        run === undefined ? (
          <Empty title="No logs yet">
            <p>A node has a log when it has run.</p>
          </Empty>
        ) : (
          <div class="session-logs">
            <NodeLinks sessionId={session.id} runs={last} shown={run} />
            <LogPanel key={run.id} run={run} ended={list.reload} />
          </div>
        )
      }
    </Loaded>
  );
}

function NodeLinks(props: { sessionId: string; runs: readonly NodeRun[]; shown: NodeRun }) {
  const { sessionId } = props;
  return (
    <nav class="choices" aria-label="Nodes with logs">
      {props.runs.map((run) => (
        <a
          key={run.id}
          href={tabAddress(sessionId, 'logs', run.nodeInstanceId)}
          {...(run.id === props.shown.id ? { 'aria-current': 'true' } : {})}
          onClick={(event) => {
            event.preventDefault();
            navigate(tabAddress(sessionId, 'logs', run.nodeInstanceId), { replace: true });
          }}
        >
          <span>{titleOf(run.nodeName)}</span>
          <RunBadge state={run.state} />
          <span class="faint">
            <Ago at={run.createdAt} />, {elapsedOf(run, Date.now())}
          </span>
        </a>
      ))}
      <a class="faint" href={runsAddress({ sessionId })}>
        All runs of this session
      </a>
    </nav>
  );
}

/** Runs come newest first. */
function lastOfEachNode(runs: readonly NodeRun[]): NodeRun[] {
  return [...Map.groupBy(runs, ({ nodeInstanceId }) => nodeInstanceId).values()].map(([first]) => first!);
}
