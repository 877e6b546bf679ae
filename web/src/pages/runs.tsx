import { useEffect, useState } from 'preact/hooks';
import { listProjects } from '../api.ts';
import { plural } from '../format.ts';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress } from '../router.ts';
import {
  type RunListView,
  readRunView,
  refreshed,
  runQueryOf,
  runsAddress,
  type ShownRuns,
} from '../runs/list-model.ts';
import { RetryChosen } from '../runs/retry-chosen.tsx';
import { RunFilters } from '../runs/run-filters.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { listRuns, type NodeRunList } from '../runs-api.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';

const refreshMs = 4000;

/** Runs of all sessions, the last made first; filters and page are in the address. */
export function RunsPage() {
  useTitle('Runs');
  const { query } = useAddress();
  const { operate } = useAbilities();
  const view = readRunView(query);
  const projects = useResource('projects', listProjects);
  const { list, shown, showNewer } = useRuns(view);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const key = runsAddress(view);
  useEffect(() => setChosen(new Set()), [key]);
  const rows = shown?.rows ?? [];
  const retryable = rows.filter(({ run }) => run.retryable && chosen.has(run.id)).map(({ run }) => run);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Runs</h1>
      </div>
      <RunFilters
        view={view}
        projects={projects.data ?? []}
        rows={rows}
        change={(part) => navigate(runsAddress({ ...view, page: 1, ...part }))}
      />
      {list.error !== null && (
        <Failure what="The runs could not be listed." error={list.error} retry={list.reload} />
      )}
      {shown === null && list.error === null && <Placeholder rows={6} label="Loading runs" />}
      {shown !== null && rows.length === 0 && shown.newer === 0 && <NoRuns view={view} />}
      {operate && <RetryChosen runs={retryable} changed={list.reload} clear={() => setChosen(new Set())} />}
      {shown !== null && shown.newer > 0 && (
        <button type="button" class="button button-small runs-newer" onClick={showNewer}>
          Show {plural(shown.newer, 'newer run', 'newer runs')}
        </button>
      )}
      {rows.length > 0 && (
        <>
          <RunTable rows={rows} chosen={operate ? chosen : null} onChosen={setChosen} />
          <Paging
            page={view.page}
            totalPages={list.data?.totalPages ?? 1}
            summary={plural(list.data?.totalCount ?? rows.length, 'run', 'runs')}
            onPage={(page) => navigate(runsAddress({ ...view, page }))}
          />
        </>
      )}
    </div>
  );
}

/** The list of a view. It is asked for again and again; rows keep their places until others are asked for. */
function useRuns(view: RunListView) {
  const key = runsAddress(view);
  const [state, setState] = useState<{ key: string; of: NodeRunList; shown: ShownRuns } | null>(null);
  const list = useResource(key, (signal) => listRuns(runQueryOf(view), signal), { keepWhileLoading: true });
  useEvery(refreshMs, true, list.reload);
  const show = (answer: NodeRunList, isAnew: boolean) =>
    setState((before) => ({
      key,
      of: answer,
      shown:
        isAnew || before === null || before.key !== key || before.shown.rows.length === 0
          ? { rows: answer.nodeRuns.map((run) => ({ run, isGone: false })), newer: 0 }
          : refreshed(before.shown.rows, answer),
    }));
  useEffect(() => {
    // While the next view is loading, the answer is still that of the one before.
    if (list.data !== null && !list.loading && list.data !== state?.of) show(list.data, false);
  }, [list.data, list.loading]);
  return {
    list,
    shown: state?.shown ?? null,
    showNewer: () => {
      if (list.data !== null) show(list.data, true);
    },
  };
}

function NoRuns({ view }: { view: RunListView }) {
  const isAll = runsAddress({ ...view, page: 1 }) === '/runs';
  return (
    <Empty title={isAll ? 'No runs yet' : 'No matching runs'}>
      <p>{isAll ? 'A run is made when a node gets input.' : <a href="/runs">All runs</a>}</p>
    </Empty>
  );
}
