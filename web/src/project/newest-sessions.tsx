import type { SessionListRow } from '../api.ts';
import { formatBytes } from '../format.ts';
import { Pinned, StatePill } from '../sessions/row-parts.tsx';
import { SharedStatus } from '../sessions/table.tsx';
import { Ago } from '../ui/ago.tsx';
import { Table } from '../ui/table.tsx';

/** Sessions of one project, as the list of all sessions shows them. */
export function NewestSessions({ sessions }: { sessions: readonly SessionListRow[] }) {
  const pinned = sessions.some(({ pinnedMetadata }) => pinnedMetadata.length > 0);
  return (
    <div class="session-rows">
      <Table
        caption="Newest sessions"
        columns={['State', 'Session', ...(pinned ? ['Metadata'] : []), 'Size', 'Owner', 'Last activity']}
      >
        {sessions.map((session) => (
          <tr key={session.id}>
            <td class="nowrap row-state">
              <StatePill session={session} />
            </td>
            <td class="row-name">
              <a class="row-link" href={`/sessions/${session.id}`} title={session.sessionTemplateName}>
                {session.name}
              </a>
              <SharedStatus metadata={session.metadata} />
            </td>
            {pinned && (
              <td class="row-pinned">
                <Pinned session={session} />
              </td>
            )}
            <td data-label="Size" class="nowrap figure row-plain">
              {session.outputBytes > 0 && formatBytes(session.outputBytes)}
            </td>
            <td data-label="Owner" class="row-cut row-plain">
              {session.owner.name}
            </td>
            <td data-label="Last activity" class="nowrap">
              <Ago at={session.lastActivityAt} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
