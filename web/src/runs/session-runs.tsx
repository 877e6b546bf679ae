import type { NodeInstanceProgress } from '../api.ts';
import { plural } from '../format.ts';
import { useNow, useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { Loaded } from '../ui/loaded.tsx';
import { runsAddress } from './address.ts';
import { listRuns, type NodeRun } from './api.ts';
import { elapsedOf, isOpenRun, progressWords, type Segment, segmentsOf } from './model.ts';
import { runStyle } from './run-badge.tsx';
import { Waterfall } from './waterfall.tsx';
import '../styles/runs/runs.css';

/** The last made; earlier ones are in the list of runs. */
const pageSize = 100;

/** The nodes of a session and their runs on one axis of time. `round` grows with every change in the session. */
export function SessionRuns(props: {
  sessionId: string;
  nodes: readonly NodeInstanceProgress[];
  round: number;
}) {
  const { sessionId } = props;
  const list = useResource(sessionId, (signal) => listRuns({ sessionId, pageSize }, signal), {
    version: props.round,
  });
  const runs = list.data?.nodeRuns ?? [];
  const total = list.data?.totalCount ?? 0;
  const now = useNow(runs.some(isOpenRun));
  return (
    <section class="run-part" aria-label="Runs of the session">
      <div class="panel-line">
        <h2>Runs</h2>
        <a class="faint" href={runsAddress({ sessionId })}>
          All runs of this session
        </a>
      </div>
      <Loaded of={list} failure="The runs could not be read." rows={2} label="Loading the runs">
        {() => (
          <>
            {total > pageSize && (
              <p class="faint">
                These are the newest {pageSize} of {plural(total, 'run', 'runs')}.
              </p>
            )}
            <RunsByNode
              sessionId={sessionId}
              nodes={props.nodes}
              runs={runs}
              hasMore={total > pageSize}
              now={now}
            />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The nodes in the order of their first runs; each with its newest run in words. */
function RunsByNode(props: {
  sessionId: string;
  nodes: readonly NodeInstanceProgress[];
  runs: readonly NodeRun[];
  /** The session has more runs than these. */
  hasMore: boolean;
  now: number;
}) {
  const { sessionId, now, hasMore } = props;
  const rows = props.nodes
    .map((node) => ({ node, runs: props.runs.filter((run) => run.nodeInstanceId === node.id) }))
    .filter((row) => row.runs.length > 0)
    .sort((a, b) => firstMade(a.runs).localeCompare(firstMade(b.runs)));
  if (rows.length === 0) return <p class="faint">No node has run yet.</p>;
  return (
    <Waterfall
      label="Runs of each node"
      rows={rows.map((row) => ({
        key: String(row.node.id),
        label: <a href={`/runs/${row.runs[0]!.id}`}>{titleOf(row.node.name)}</a>,
        segments: row.runs.flatMap((run) => segmentsOfRun(run, now)),
        words: (
          <>
            {wordsOf(row.runs[0]!, now)}
            {row.runs.length > 1 && (
              <>
                {' · '}
                <a href={runsAddress({ sessionId, nodeInstanceId: row.node.id })}>
                  {hasMore ? 'earlier runs' : plural(row.runs.length - 1, 'earlier run', 'earlier runs')}
                </a>
              </>
            )}
          </>
        ),
      }))}
    />
  );
}

const firstMade = (runs: readonly NodeRun[]) => runs.at(-1)!.createdAt;

const segmentsOfRun = (run: NodeRun, now: number): Segment[] =>
  run.attempts.flatMap((attempt) => segmentsOf(run, attempt, now));

/** `Running, attempt 2 of 3, 16 s, 3 of 12 laps`. */
function wordsOf(run: NodeRun, now: number): string {
  const attempt = run.attempt > 1 ? `attempt ${run.attempt} of ${run.maxAttempts}` : null;
  const words = [runStyle(run.state).label, attempt, elapsedOf(run, now), progressWords(run, now)];
  return words.filter((word) => word !== null).join(', ');
}
