import { listDimensions } from '../api.ts';
import { useResource } from '../hooks.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import type { ShownSession } from './table.tsx';
import { SessionTable } from './table.tsx';

const mostPages = 10;

/** The sessions of a Trainee: those with a dashboard of theirs, since the list of all sessions is not for them. */
export function OwnSessions() {
  const list = useResource('own-sessions', readOwn);
  return (
    <>
      {list.error !== null && (
        <Failure what="Your sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={4} label="Loading your sessions" />}
      {list.data?.length === 0 && (
        <Empty title="You have no sessions with results yet">
          <p>
            A session that you take part in appears here with its first dashboard. A link to a session works
            before that.
          </p>
        </Empty>
      )}
      {list.data !== null && list.data.length > 0 && <SessionTable rows={list.data} busy={list.loading} />}
    </>
  );
}

async function readOwn(signal: AbortSignal): Promise<ShownSession[]> {
  const sessions = new Map<string, ShownSession>();
  for (let page = 1; page <= mostPages; page += 1) {
    const reply = await listDimensions({ from: '', to: '', page, order: 'descending' }, signal);
    for (const row of reply.dimensions) {
      const known = sessions.get(row.sessionId);
      const createdAt =
        known !== undefined && known.createdAt < row.createdAt ? known.createdAt : row.createdAt;
      sessions.set(row.sessionId, {
        id: row.sessionId,
        name: row.sessionName,
        simulationName: row.scenarioName,
        project: row.projectTitle,
        template: null,
        createdAt,
        metadata: null,
      });
    }
    if (page >= reply.totalPages) break;
  }
  return [...sessions.values()];
}
