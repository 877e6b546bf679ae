import { AddSession } from '../compare/add-session.tsx';
import { compareAddress, dashboardsOf, readCompareView, withoutDashboard } from '../compare/address.ts';
import { CompareBody } from '../compare/body.tsx';
import { useSessionAnnotations } from '../compare/choice.ts';
import { readDashboard } from '../dashboard-api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { isMissing } from '../http.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import '../styles/dashboard/dashboard.css';
import '../styles/dashboard/compare.css';
import '../styles/dashboard/differences.css';

const nothing: ReadonlyMap<string, never> = new Map<string, never>();
const none: readonly never[] = [];

/** Sessions over each other. The address holds all choices. */
export function ComparePage() {
  const { query } = useAddress();
  const view = readCompareView(query);
  const ids = dashboardsOf(view.places);
  const dashboards = useResource(ids.join(','), (signal) => readThose(ids, signal), {
    keepWhileLoading: true,
  });
  const { found: read = none, missing = none } = dashboards.data ?? {};
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
      <LeftOut missing={missing} places={view.places} change={change} />
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

/** Dashboards by their ids; those that are gone, or hidden from this person, leave the others to be compared. */
async function readThose(ids: readonly number[], signal: AbortSignal) {
  const missing: number[] = [];
  const read = await Promise.all(
    ids.map((id) =>
      readDashboard(String(id), signal).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
        missing.push(id);
        return null;
      }),
    ),
  );
  return { found: read.filter((dashboard) => dashboard !== null), missing };
}

function LeftOut(props: {
  missing: readonly number[];
  places: number[];
  change: (part: { places: number[] }) => void;
}) {
  const { missing, places } = props;
  if (missing.length === 0) return null;
  const left = () => missing.reduce((all, id) => withoutDashboard(all, id, 1), places);
  const action = (
    <button type="button" class="button button-small" onClick={() => props.change({ places: left() })}>
      {missing.length === 1 ? 'Remove it' : 'Remove them'}
    </button>
  );
  return (
    <Notice tone="info" action={action}>
      {plural(missing.length, 'session is', 'sessions are')} left out: deleted, or you do not take part.
    </Notice>
  );
}
