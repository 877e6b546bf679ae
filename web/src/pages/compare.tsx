import { AddSession } from '../compare/add-session.tsx';
import { compareAddress, dashboardsOf, readCompareView } from '../compare/address.ts';
import { CompareBody } from '../compare/body.tsx';
import { useSessionAnnotations } from '../compare/choice.ts';
import { readDashboard } from '../dashboard-api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import '../styles/dashboard/dashboard.css';
import '../styles/dashboard/compare.css';

const nothing: ReadonlyMap<string, never> = new Map<string, never>();
const none: readonly never[] = [];

/** Sessions over each other. The address holds all choices. */
export function ComparePage() {
  const { query } = useAddress();
  const view = readCompareView(query);
  const ids = dashboardsOf(view.places);
  const dashboards = useResource(
    ids.join(','),
    (signal) => Promise.all(ids.map((id) => readDashboard(String(id), signal))),
    { keepWhileLoading: true },
  );
  const read = dashboards.data ?? none;
  const annotations = useSessionAnnotations(read);
  const sessions = new Set(read.map(({ sessionId }) => sessionId)).size;
  useTitle(sessions === 0 ? 'Compare' : `Compare ${plural(sessions, 'session', 'sessions')}`);
  const change = (part: Partial<typeof view>, replace = true) =>
    navigate(compareAddress({ ...view, ...part }), { replace });
  return (
    <div class="page page-dashboard">
      <header class="dashboard-head">
        <nav class="crumbs" aria-label="Path">
          <a href="/sessions">Sessions</a>
        </nav>
        <h1>{sessions === 0 ? 'Compare sessions' : `Compare ${plural(sessions, 'session', 'sessions')}`}</h1>
      </header>
      {dashboards.error !== null && (
        <Failure what="A dashboard could not be read." error={dashboards.error} retry={dashboards.reload} />
      )}
      {ids.length === 0 && (
        <Empty title="Nothing to compare yet">
          <p>Choose sessions in the list of sessions, or add one here.</p>
          <AddSession shown={ids} onAdd={(id) => change({ places: [id] }, false)} />
        </Empty>
      )}
      {ids.length > 0 && dashboards.data === null && dashboards.error === null && (
        <Placeholder rows={4} label="Loading the recordings" />
      )}
      {read.length > 0 && (
        <CompareBody
          dashboards={read}
          view={view}
          annotations={annotations.data ?? nothing}
          change={change}
        />
      )}
    </div>
  );
}
