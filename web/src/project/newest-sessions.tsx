import type { SessionListRow } from '../api.ts';
import { fullName, KnownBy, SessionStatus, StatePill } from '../sessions/row-parts.tsx';
import { figureColumn, Table } from '../ui/table.tsx';

/** Sessions of one project, as the list of all sessions shows them. */
export function NewestSessions({ sessions }: { sessions: readonly SessionListRow[] }) {
  const pinned = sessions.some(({ pinnedMetadata }) => pinnedMetadata.length > 0);
  return (
    <div class="session-rows">
      <Table
        caption="Newest sessions"
        columns={[
          'State',
          'Session',
          ...(pinned ? ['Metadata'] : []),
          figureColumn('Size'),
          'Owner',
          'Last activity',
        ]}
      >
        {sessions.map((session) => (
          <tr key={session.id}>
            <td class="nowrap row-state">
              <StatePill session={session} />
            </td>
            <td class="row-name">
              <div class="row-line">
                <a class="row-link" href={`/sessions/${session.id}`} title={fullName(session)}>
                  {session.name}
                </a>
                <SessionStatus session={session} />
              </div>
            </td>
            <KnownBy session={session} pinned={pinned} />
          </tr>
        ))}
      </Table>
    </div>
  );
}
