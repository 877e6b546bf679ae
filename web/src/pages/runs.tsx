import { useEffect, useState } from 'preact/hooks';
import { listProjects, listTemplates } from '../api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress } from '../router.ts';
import { runsAddress } from '../runs/address.ts';
import { listRuns } from '../runs/api.ts';
import { type RunListView, readRunView, refreshed, runQueryOf, type ShownRuns } from '../runs/list-model.ts';
import { ReasonList } from '../runs/reason-list.tsx';
import { RetryChosen } from '../runs/retry-chosen.tsx';
import { RunFilters } from '../runs/run-filters.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { useRefreshedList } from '../ui/refreshed-list.ts';

/** Runs of all sessions, the last made first; filters and page are in the address. */
export function RunsPage() {
  useTitle('Runs');
  const { query } = useAddress();
  const view = readRunView(query);
  const projects = useResource('projects', listProjects);
  const templates = useResource('templates', listTemplates);
  const runs = useRuns(view);
  const { list, shown } = runs;
  return (
    <div class="page">
      <div class="page-head">
        <h1>Runs</h1>
      </div>
      <RunFilters
        view={view}
        projects={projects.data ?? []}
        rows={shown?.rows ?? []}
        templates={(templates.data ?? []).flatMap(({ nodes }) =>
          nodes.flatMap((node) => node.nodeTemplateName ?? []),
        )}
        change={(part) => navigate(runsAddress({ ...view, page: 1, ...part }))}
      />
      {view.grouped ? (
        <ReasonList view={view} none={() => <NoRuns view={view} />} />
      ) : (
        <Loaded
          of={{ data: shown, error: list.error, reload: list.reload }}
          failure="The runs could not be listed."
          rows={6}
          label="Loading runs"
        >
          {({ rows, newer }) => <RunList view={view} rows={rows} newer={newer} runs={runs} />}
        </Loaded>
      )}
    </div>
  );
}

function RunList(props: ShownRuns & { view: RunListView; runs: ReturnType<typeof useRuns> }) {
  const { view, rows, newer } = props;
  const { list, showNewer } = props.runs;
  const { operate } = useAbilities();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const key = runsAddress(view);
  useEffect(() => setChosen(new Set()), [key]);
  const retryable = rows.filter(({ run }) => run.retryable && chosen.has(run.id)).map(({ run }) => run);
  return (
    <>
      {rows.length === 0 && newer === 0 && <NoRuns view={view} />}
      {operate && <RetryChosen runs={retryable} changed={list.reload} clear={() => setChosen(new Set())} />}
      {newer > 0 && (
        <button type="button" class="button button-small runs-newer" onClick={showNewer}>
          Show {plural(newer, 'newer run', 'newer runs')}
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
    </>
  );
}

function useRuns(view: RunListView) {
  return useRefreshedList(
    runsAddress(view),
    (signal) => listRuns(runQueryOf(view), signal),
    (answer): ShownRuns => ({ rows: answer.nodeRuns.map((run) => ({ run, isGone: false })), newer: 0 }),
    ({ rows }, answer) => refreshed(rows, answer),
    !view.grouped,
  );
}

function NoRuns({ view }: { view: RunListView }) {
  const isAll = runsAddress({ ...view, page: 1 }) === '/runs';
  return (
    <Empty title={isAll ? 'No runs yet' : 'No matching runs'}>
      {isAll && <p>A run is made when a node gets input.</p>}
      <p>{isAll ? <a href="/sessions">Upload a recording to a session</a> : <a href="/runs">All runs</a>}</p>
    </Empty>
  );
}
