import { ApiError } from '../../../client/errors.ts';
import { readSession } from '../api.ts';
import { listDimensions } from '../dashboard-api.ts';
import { useAuth, useResource } from '../hooks.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { forgetSessions, rememberedSessions } from './remembered.ts';
import type { ShownSession } from './table.tsx';
import { SessionTable } from './table.tsx';

const mostPages = 10;

/** The sessions of a Trainee: those of their dashboards, and those opened in this browser; they may not list all. */
export function OwnSessions() {
  const userId = useAuth().signIn?.user.userId ?? '';
  const list = useResource(`own-sessions ${userId}`, (signal) => readOwn(userId, signal));
  return (
    <>
      <p class="faint">
        Your sessions with a dashboard, and sessions that you opened in this browser. Open any other by its
        link.
      </p>
      {list.error !== null && (
        <Failure what="Your sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={4} label="Loading your sessions" />}
      {list.data?.length === 0 && (
        <Empty title="No sessions yet">
          <p>
            A session in which you participate appears here with its first dashboard, or after you open it by
            its link.
          </p>
        </Empty>
      )}
      {list.data !== null && list.data.length > 0 && <SessionTable rows={list.data} busy={list.loading} />}
    </>
  );
}

/** Newest first. */
async function readOwn(userId: string, signal: AbortSignal): Promise<ShownSession[]> {
  const sessions = await withDashboards(signal);
  const others = rememberedSessions(userId).filter((id) => !sessions.has(id));
  for (const session of await readRemembered(userId, others, signal)) sessions.set(session.id, session);
  return [...sessions.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

async function withDashboards(signal: AbortSignal): Promise<Map<string, ShownSession>> {
  const sessions = new Map<string, ShownSession>();
  for (let page = 1; page <= mostPages; page += 1) {
    const reply = await listDimensions(
      { search: '', projectId: null, from: '', to: '', page, order: 'descending' },
      signal,
    );
    for (const row of reply.dimensions) {
      const known = sessions.get(row.sessionId);
      const createdAt =
        known !== undefined && known.createdAt < row.createdAt ? known.createdAt : row.createdAt;
      sessions.set(row.sessionId, {
        id: row.sessionId,
        name: row.sessionName,
        simulationName: row.scenarioName,
        project: row.projectTitle,
        createdAt,
        metadata: null,
      });
    }
    if (page >= reply.totalPages) break;
  }
  return sessions;
}

/** Sessions that no longer exist are removed. */
async function readRemembered(userId: string, ids: string[], signal: AbortSignal): Promise<ShownSession[]> {
  const gone: string[] = [];
  const found = await Promise.all(
    ids.map(async (id): Promise<ShownSession[]> => {
      try {
        const { name, simulationName, project, createdAt, metadata } = await readSession(id, signal);
        return [{ id, name, simulationName, project: project.title, createdAt, metadata }];
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        gone.push(id);
        return [];
      }
    }),
  );
  if (gone.length > 0) forgetSessions(userId, gone);
  return found.flat();
}
