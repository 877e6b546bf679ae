import { useState } from 'preact/hooks';
import type { Dashboard } from '../api.ts';
import { AddSession } from '../compare/add-session.tsx';
import { compareDashboards } from '../compare/address.ts';
import { measuresNamed } from '../compare/model.ts';
import { readView, writeView } from '../dashboard/address.ts';
import { DashboardBody } from '../dashboard/body.tsx';
import { carryKeys, contentOf, ownTitle, sourceName } from '../dashboard/model.ts';
import { readDashboard } from '../dashboard-api.ts';
import { formatCount } from '../format.ts';
import { type Resource, useEvery, useResource, useTitle } from '../hooks.ts';
import { isMissing } from '../http.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress } from '../router.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import '../styles/dashboard/dashboard.css';
import '../styles/dashboard/compare.css';

const newerEveryMs = 10_000;

/** A dashboard: its channels as curves over one time axis. The address holds all choices. */
export function DashboardPage(props: { dimensionId: string }) {
  const { dimensionId } = props;
  const { path, query } = useAddress();
  const view = readView(query);
  const { beside } = view;
  const dashboard = useResource(dimensionId, (signal) => readDashboard(dimensionId, signal));
  const others = useResource(
    beside.join(','),
    (signal) => Promise.all(beside.map((id) => readDashboard(id, signal))),
    { keepWhileLoading: true },
  );
  useTitle(dashboard.data?.sessionName ?? 'Dashboard');
  const newer = useNewer(dimensionId, dashboard.data);
  if (isMissing(dashboard.error)) return <NoDashboard />;
  return (
    <div class="page page-dashboard">
      <Loaded
        of={dashboard}
        failure="The dashboard could not be read."
        rows={4}
        label="Loading the dashboard"
      >
        {(shown) => (
          <>
            <DashboardHead dashboard={shown} channels={view.channels} />
            {newer !== null && (
              <NewerData
                onShow={() => {
                  if (view.channels !== null) {
                    const channels = carryKeys(shown, newer, view.channels);
                    navigate(path + writeView({ ...view, channels }), { replace: true });
                  }
                  dashboard.reload();
                }}
              />
            )}
            <Curves first={shown} others={others} reload={dashboard.reload} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function NoDashboard() {
  const { listSessions } = useAbilities();
  return (
    <Empty isPage title="Dashboard not found">
      <p>
        Its session may have been deleted{listSessions ? '' : ', or you do not take part in it'}. Check the
        address. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

function NewerData({ onShow }: { onShow: () => void }) {
  return (
    <div class="dashboard-newer" role="status">
      <span>There are newer data.</span>
      <button type="button" class="button button-small button-primary" onClick={onShow}>
        Show newer data
      </button>
    </div>
  );
}

/** A dashboard, and those beside it once they are loaded; without them when they cannot be read. */
function Curves(props: { first: Dashboard; others: Resource<Dashboard[]>; reload: () => void }) {
  const { others } = props;
  return (
    <>
      {others.error !== null && (
        <Failure what="An added dashboard could not be read." error={others.error} retry={others.reload} />
      )}
      {others.data === null && others.error === null ? (
        <Placeholder rows={3} label="Loading the added dashboards" />
      ) : (
        <DashboardBody
          first={props.first}
          beside={others.data ?? []}
          reload={() => {
            props.reload();
            others.reload();
          }}
        />
      )}
    </>
  );
}

/** The dashboard's present state when it has other data than those shown. */
function useNewer(dimensionId: string, shown: Dashboard | null): Dashboard | null {
  const [found, setFound] = useState<Dashboard | null>(null);
  useEvery(newerEveryMs, shown !== null, () =>
    // A failure says nothing about newer data, and neither does 304: all of a dashboard may be hundreds of megabytes.
    readDashboard(dimensionId, undefined, found !== null && found.id === shown?.id ? found : shown)
      .then(setFound)
      .catch(() => undefined),
  );
  const isNewer =
    found !== null && shown !== null && found.id === shown.id && contentOf(found) !== contentOf(shown);
  return isNewer ? found : null;
}

function DashboardHead(props: { dashboard: Dashboard; channels: readonly string[] | null }) {
  const { dashboard } = props;
  const rows = dashboard.sources.reduce((sum, source) => sum + source.rowCount, 0);
  const files = dashboard.sources.length;
  const facts = [
    ownTitle(dashboard),
    dashboard.scenarioName,
    `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`,
    dashboard.sources.length === 1
      ? sourceName(dashboard.sources[0]!, null)
      : `${formatCount(files)} recordings`,
  ];
  return (
    <header class="dashboard-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/sessions">Sessions</a>
        <span aria-hidden="true"> / </span>
        <a href={`/sessions/${dashboard.sessionId}`}>{dashboard.sessionName}</a>
      </nav>
      <div class="page-head">
        <h1>{dashboard.sessionName}</h1>
        <AddSession
          shown={[dashboard.id]}
          onAdd={(id) =>
            navigate(compareDashboards([dashboard.id, id], measuresNamed(dashboard, props.channels)))
          }
        />
      </div>
      <p class="faint meta">
        {facts
          .filter((fact) => fact !== null && fact !== '')
          .map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
      </p>
    </header>
  );
}
