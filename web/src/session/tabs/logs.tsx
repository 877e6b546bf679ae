import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { NodeInstanceProgress } from '../../api.ts';
import { useResource } from '../../hooks.ts';
import { titleOf } from '../../names.ts';
import { navigate, useAddress } from '../../router.ts';
import { runsAddress } from '../../runs/address.ts';
import { listRuns, type NodeRun, readLastRun } from '../../runs/api.ts';
import { LogPanel } from '../../runs/log-panel.tsx';
import { elapsedOf, nodesBefore } from '../../runs/model.ts';
import { RunBadge } from '../../runs/run-badge.tsx';
import { Ago } from '../../ui/ago.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Empty } from '../../ui/notice.tsx';
import { StateBadge } from '../../ui/state-badge.tsx';
import { scrollToChosen } from '../scroll-to-chosen.ts';
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
  const asked = Number(query.get('node'));
  const hasMore = (list.data?.totalCount ?? 0) > pageSize;
  const earlier = hasMore ? nodesBefore(followed.nodes ?? [], last) : [];
  const isEarlier = earlier.some(({ id }) => id === asked);
  const found = useResource(
    isEarlier ? String(asked) : '',
    (signal) => (isEarlier ? readLastRun(asked, signal) : Promise.resolve(null)),
    { version: followed.round },
  );
  const newest = last.find(({ nodeInstanceId }) => nodeInstanceId === asked);
  const run = isEarlier ? found.data : (newest ?? last.find(({ state }) => state === 'failed') ?? last[0]);
  return (
    <Loaded of={list} failure="The runs could not be read." rows={4} label="Loading the runs">
      {() =>
        last.length === 0 ? (
          <Empty title="No logs yet">
            <p>A node has a log when it has run.</p>
          </Empty>
        ) : (
          <div class="session-logs">
            <NodeLinks
              sessionId={session.id}
              runs={last}
              earlier={earlier}
              shownId={isEarlier ? asked : run?.nodeInstanceId}
            />
            {isEarlier && run === null && (
              <Loaded of={found} failure="The run could not be read." rows={4} label="Loading the run">
                {() => null}
              </Loaded>
            )}
            {run != null && <LogPanel key={run.id} run={run} ended={list.reload} />}
          </div>
        )
      }
    </Loaded>
  );
}

function NodeLinks(props: {
  sessionId: string;
  runs: readonly NodeRun[];
  earlier: readonly NodeInstanceProgress[];
  shownId: number | undefined;
}) {
  const { sessionId, shownId } = props;
  const frame = useRef<HTMLElement>(null);
  useEffect(() => scrollToChosen(frame.current, '[aria-current]'), []);
  const link = (nodeInstanceId: number, children: ComponentChildren) => (
    <NodeLink
      key={nodeInstanceId}
      address={tabAddress(sessionId, 'logs', nodeInstanceId)}
      isShown={nodeInstanceId === shownId}
    >
      {children}
    </NodeLink>
  );
  return (
    <nav ref={frame} class="choices" aria-label="Nodes with logs">
      <a class="faint" href={runsAddress({ sessionId })}>
        All runs of this session
      </a>
      {props.runs.map((run) =>
        link(
          run.nodeInstanceId,
          <>
            <span>{titleOf(run.nodeName)}</span>
            <RunBadge state={run.state} />
            <span class="faint">
              <Ago at={run.createdAt} />, {elapsedOf(run, Date.now())}
            </span>
          </>,
        ),
      )}
      {props.earlier.map(({ id, name, state }) =>
        link(
          id,
          <>
            <span>{titleOf(name)}</span>
            <StateBadge state={state} />
          </>,
        ),
      )}
    </nav>
  );
}

function NodeLink(props: { address: string; isShown: boolean; children: ComponentChildren }) {
  const { address } = props;
  return (
    <a
      href={address}
      {...(props.isShown ? { 'aria-current': 'true' } : {})}
      onClick={(event) => {
        event.preventDefault();
        navigate(address, { replace: true });
      }}
    >
      {props.children}
    </a>
  );
}

/** Runs come newest first. */
function lastOfEachNode(runs: readonly NodeRun[]): NodeRun[] {
  return [...Map.groupBy(runs, ({ nodeInstanceId }) => nodeInstanceId).values()].map(([first]) => first!);
}
