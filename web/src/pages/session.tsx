import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import type { NodeInstanceProgress, Session, SessionWindowEvent } from '../api.ts';
import { readSession } from '../api.ts';
import { formatDateTime } from '../format.ts';
import { useAuth, useResource, useTitle } from '../hooks.ts';
import { isUnderWay, stateOrder } from '../node-state.ts';
import { useAbilities } from '../role.ts';
import { SessionActions } from '../session/actions.tsx';
import type { Followed } from '../session/follow.ts';
import { useSessionEvents } from '../session/follow.ts';
import { useUploads } from '../session/uploads.ts';
import { WorkArea } from '../session/work-area.tsx';
import { rememberSession } from '../sessions/remembered.ts';
import { sharedWindow } from '../shared/model.ts';
import { Icon } from '../ui/icon.tsx';
import { ReloadNotice, useModule } from '../ui/lazy.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

/** One session: its graph as it works, the chosen node, uploads, dashboards. The chosen node is in the address. */
export function SessionPageView(props: { sessionId: string }) {
  const { sessionId } = props;
  const session = useResource(sessionId, (signal) => readSession(sessionId, signal));
  const followed = useSessionEvents(sessionId);
  const { nodes } = followed;
  const uploads = useUploads();
  useTitle(session.data?.name ?? 'Session');
  useRemembered(session.data?.id ?? null);

  // A dashboard appears when a node ends, so the session is read again then, and when a participant joins or closes it.
  const windowKey = JSON.stringify(followed.window);
  const ended = nodes?.map((node) => `${node.id}:${node.currentOutputId}:${isUnderWay(node.state)}`);
  const endedKey = ended === undefined ? '' : `${ended.join(' ')} ${windowKey}`;
  const [seenKey, setSeenKey] = useState('');
  useEffect(() => {
    if (endedKey === '' || endedKey === seenKey) return;
    if (seenKey !== '') session.reload();
    setSeenKey(endedKey);
  }, [endedKey]);

  const failure = followed.error ?? session.error;
  if (followed.deleted || (failure instanceof ApiError && failure.status === 404)) {
    return (
      <Empty title={followed.deleted ? 'This session has been deleted' : 'There is no such session'}>
        <p>
          {followed.deleted ? '' : 'It may have been deleted, or the address may be mistyped. '}
          <a href="/">Sessions</a>
        </p>
      </Empty>
    );
  }
  return (
    <div class="page page-session">
      <SessionHead session={session.data} sessionId={sessionId} followed={followed} />
      {failure !== null && (
        <Failure
          what="The session could not be read."
          error={failure}
          retry={() => {
            session.reload();
            followed.retry();
          }}
        />
      )}
      {session.data !== null && <DashboardLinks session={session.data} />}
      {nodes === null && failure === null && <Placeholder rows={4} label="Loading the session" />}
      {nodes !== null && (
        <WorkArea
          nodes={nodes}
          followed={followed}
          dimensions={session.data?.dimensions ?? []}
          uploads={uploads}
        />
      )}
      {session.data !== null && sharedWindow(session.data) !== null && (
        <WindowLoader session={session.data} />
      )}
    </div>
  );
}

/** Lets a Trainee find the session again: no list shows it to them before it has a dashboard. */
function useRemembered(sessionId: string | null): void {
  const userId = useAuth().signIn?.user.userId ?? '';
  const { listSessions } = useAbilities();
  useEffect(() => {
    if (sessionId !== null && !listSessions) rememberSession(userId, sessionId);
  }, [sessionId, listSessions, userId]);
}

function SessionHead(props: { session: Session | null; sessionId: string; followed: Followed }) {
  const { session, followed } = props;
  return (
    <header class="session-head">
      <nav class="crumbs" aria-label="Path">
        <a href="/sessions">Sessions</a>
      </nav>
      <div class="page-head">
        <h1>{session?.name ?? 'Session'}</h1>
        {followed.nodes !== null && (
          <SessionActions sessionId={props.sessionId} session={session} followed={followed} />
        )}
      </div>
      {session !== null && <SessionFacts session={session} />}
      {followed.nodes !== null && <Summary nodes={followed.nodes} followed={followed} />}
    </header>
  );
}

/** The session's project and related objects, with links that the person may follow. */
function SessionFacts({ session }: { session: Session }) {
  const { listSessions, operate } = useAbilities();
  const { project, sessionTemplate, simulationName } = session;
  return (
    <p class="faint meta">
      {project !== null && (
        <span>
          {listSessions ? (
            <a href={`/sessions?project=${session.projectId}`} title="Sessions of this project">
              {project.title}
            </a>
          ) : (
            project.title
          )}
        </span>
      )}
      {sessionTemplate !== null && (
        <span>
          {operate ? (
            <a href={`/templates?template=${session.sessionTemplateId}`} title="Its template">
              {sessionTemplate.name}
            </a>
          ) : (
            sessionTemplate.name
          )}
        </span>
      )}
      {simulationName !== null && simulationName !== '' && <span>{simulationName}</span>}
      <span>created {formatDateTime(session.createdAt)}</span>
    </p>
  );
}

/** The number of nodes in each state, and whether that is current. */
function Summary(props: { nodes: readonly NodeInstanceProgress[]; followed: Followed }) {
  const { window, connection } = props.followed;
  const counts = new Map<string, number>();
  for (const { state } of props.nodes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <div class="summary" role="status" aria-label="State of the session">
      {window?.frozen === true && (
        <span class="badge state-paused">
          <Icon name="freeze" />
          <span>Frozen</span>
        </span>
      )}
      {window?.status === 'closed' && <span class="badge state-idle">Closed</span>}
      {window?.status === 'closed' && <span class="faint">{closedWords(window)}</span>}
      {stateOrder
        .filter((state) => counts.has(state))
        .map((state) => (
          <StateBadge key={state} state={state} count={counts.get(state) ?? 0} />
        ))}
      {connection === 'live' && <span class="live">live</span>}
      {connection === 'lost' && <span class="live live-lost">connection lost, trying again</span>}
    </div>
  );
}

/** `at 14 Mar 2026, 09:30: The exercise is over.` */
function closedWords({ closedAt, closeReason }: SessionWindowEvent): string {
  const at = closedAt === null ? '' : `at ${formatDateTime(closedAt)}`;
  return [at, closeReason ?? ''].filter((text) => text !== '').join(': ');
}

/** A shared session's window and participants; the timeline's code is fetched when there is a window. */
function WindowLoader(props: { session: Session }) {
  const View = useModule(
    () => import('../shared/session-window.tsx'),
    (module) => module.SessionWindowPart,
  );
  if (View === 'failed') return <ReloadNotice />;
  if (View === null) return <Placeholder rows={1} label="Loading the window" />;
  return <View session={props.session} />;
}

function DashboardLinks(props: { session: Session }) {
  const { dimensions } = props.session;
  if (dimensions.length === 0) return null;
  return (
    <section class="dashboard-links" aria-label="Dashboards">
      {dimensions.map((dimension) => (
        <a key={dimension.id} class="dashboard-link" href={`/dashboards/${dimension.id}`}>
          <Icon name="chart" />
          <span>
            <span class="dashboard-link-lead">Dashboard</span>
            <span class="dashboard-link-name">
              {dimension.name || dimension.dashboardName || dimension.id}
            </span>
          </span>
          <Icon name="right" />
        </a>
      ))}
    </section>
  );
}
