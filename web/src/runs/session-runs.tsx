import type { NodeInstanceProgress } from '../api.ts';
import { plural } from '../format.ts';
import { useNow, useResource, useSettled } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { listRuns, type NodeRun } from '../runs-api.ts';
import { Failure, Placeholder } from '../ui/notice.tsx';
import { runsAddress } from './list-model.ts';
import { elapsedOf, isOpenRun, progressWords, type Segment, segmentsOf } from './model.ts';
import { runStyle } from './run-badge.tsx';
import { Waterfall } from './waterfall.tsx';
import '../styles/runs/runs.css';

/** Changes come in bursts; one request follows a burst. */
const settleMs = 500;
/** The last made; earlier ones are in the list of runs. */
const pageSize = 100;

/** The nodes of a session and their runs on one axis of time. `round` grows with every change in the session. */
export function SessionRuns(props: {
  sessionId: string;
  nodes: readonly NodeInstanceProgress[];
  round: number;
}) {
  const { sessionId } = props;
  const round = useSettled(props.round, settleMs);
  const list = useResource(`${sessionId}:${round}`, (signal) => listRuns({ sessionId, pageSize }, signal), {
    keepWhileLoading: true,
  });
  const runs = list.data?.nodeRuns ?? [];
  const now = useNow(runs.some(isOpenRun));
  const byNode = new Map(
    props.nodes.map((node) => [node.id, runs.filter((run) => run.nodeInstanceId === node.id)]),
  );
  const rows = props.nodes
    .map((node) => ({ node, runs: byNode.get(node.id) ?? [] }))
    .filter((row) => row.runs.length > 0)
    .sort((a, b) => firstMade(a.runs).localeCompare(firstMade(b.runs)));
  return (
    <section class="run-part" aria-label="Runs of the session">
      <div class="panel-line">
        <h2>Runs</h2>
        <a class="faint" href={runsAddress({ sessionId })}>
          All runs of this session
        </a>
      </div>
      {list.error !== null && (
        <Failure what="The runs could not be read." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={2} label="Loading the runs" />}
      {list.data !== null && rows.length === 0 && <p class="faint">No node has run yet.</p>}
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
                    {plural(row.runs.length - 1, 'earlier run', 'earlier runs')}
                  </a>
                </>
              )}
            </>
          ),
        }))}
      />
    </section>
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
