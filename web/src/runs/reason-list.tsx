import type { ComponentChildren } from 'preact';
import { formatCount, plural } from '../format.ts';
import { useEvery, useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { figureColumn, spareColumn, Table } from '../ui/table.tsx';
import { runsAddress } from './address.ts';
import { listRuns, type NodeRun } from './api.ts';
import { type RunListView, runQueryOf } from './list-model.ts';
import { isHopelessRetry } from './model.ts';
import { groupedByReason, type ReasonGroup } from './reasons.ts';
import { retriedWords, useRetries } from './retry-chosen.tsx';

const pageSize = 100;
const maxPages = 10;
const refreshMs = 15_000;

/** The failed runs of a list by their reasons: a fault of the night is retried at once, however many runs it met. */
export function ReasonList({ view, none }: { view: RunListView; none: () => ComponentChildren }) {
  const { operate } = useAbilities();
  const found = useResource(runsAddress({ ...view, page: 1 }), (signal) => readFailed(view, signal));
  const retries = useRetries(found.reload);
  useEvery(refreshMs, !retries.busy, found.reload);
  return (
    <>
      <Retried view={view} retries={retries} />
      <Loaded of={found} failure="The runs could not be listed." rows={4} label="Loading runs">
        {({ runs, totalCount }) =>
          runs.length === 0 ? (
            none()
          ) : (
            <>
              <Table
                caption="Reasons"
                columns={[
                  'Reason',
                  figureColumn('Runs'),
                  figureColumn('Sessions'),
                  spareColumn('Node templates'),
                  'Newest',
                ]}
                actions={operate}
              >
                {groupedByReason(runs).map((group) => (
                  <ReasonRow key={group.newest.id} group={group} retries={operate ? retries : null} />
                ))}
              </Table>
              <p class="faint">
                {runs.length < totalCount
                  ? `The newest ${formatCount(runs.length)} of ${formatCount(totalCount)} runs.`
                  : plural(totalCount, 'run', 'runs')}
              </p>
            </>
          )
        }
      </Loaded>
    </>
  );
}

async function readFailed(view: RunListView, signal: AbortSignal) {
  const query = { ...runQueryOf(view), pageSize };
  const runs = new Map<string, NodeRun>();
  let totalCount = 0;
  for (let page = 1; page <= maxPages; page += 1) {
    const answer = await listRuns({ ...query, page }, signal);
    // A run that fails meanwhile moves another to the next page.
    for (const run of answer.nodeRuns) runs.set(run.id, run);
    totalCount = answer.totalCount;
    if (page >= answer.totalPages) break;
  }
  return { runs: [...runs.values()], totalCount };
}

/** How far the retries are, and what became of them. */
function Retried({ view, retries }: { view: RunListView; retries: ReturnType<typeof useRetries> }) {
  const { progress, result } = retries;
  if (progress !== null)
    return (
      <Notice tone="info">
        Retrying {formatCount(progress.done)} of {plural(progress.of, 'run', 'runs')}.
      </Notice>
    );
  if (result === null) return null;
  const open = runsAddress({ ...view, state: 'open', grouped: false, page: 1 });
  return (
    <Notice
      tone={result.problems.length === 0 ? 'done' : 'error'}
      action={
        <a class="button button-small" href={open}>
          Open runs
        </a>
      }
    >
      {retriedWords(result)}
    </Notice>
  );
}

function ReasonRow(props: { group: ReasonGroup; retries: ReturnType<typeof useRetries> | null }) {
  const { group, retries } = props;
  const count = plural(group.retryable.length, 'run', 'runs');
  return (
    <tr>
      <td class="wrap-anywhere">
        <a href={`/runs/${group.newest.id}`} title="Opens the newest run">
          {group.text}
        </a>{' '}
        {isHopelessRetry(group.newest) && <span class="tag tag-alone">would fail again</span>}
      </td>
      <td data-label="Runs" class="figure">
        {formatCount(group.runs)}
      </td>
      <td data-label="Sessions" class="figure">
        {formatCount(group.sessions)}
      </td>
      <td data-label="Node templates" class="row-cut row-spare" title={group.templates.join(', ')}>
        {group.templates.map(titleOf).join(', ')}
      </td>
      <td data-label="Newest" class="nowrap">
        <Ago at={group.newest.endedAt ?? group.newest.createdAt} />
      </td>
      {retries !== null && (
        <td class="table-actions">
          {group.retryable.length > 0 && (
            <button
              type="button"
              class="button button-small"
              aria-label={`Retry ${count}: ${group.text}`}
              aria-disabled={retries.busy}
              onClick={() => void retries.retry(group.retryable)}
            >
              <Icon name="reset" />
              Retry {count}
            </button>
          )}
        </td>
      )}
    </tr>
  );
}
