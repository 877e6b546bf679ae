import type { ComponentChild } from 'preact';
import type { SessionListRow } from '../api.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { fullName, KnownBy, SessionStatus, StatePill, sizeColumn } from './row-parts.tsx';

/** The headings of the cells; a list that can be sorted has two of its own. */
export function sessionColumns(
  pinned: boolean,
  name: ComponentChild = 'Session',
  created: ComponentChild = 'Created',
): ComponentChild[] {
  const dashboard = (
    <th key="dashboard" scope="col">
      <span class="visually-hidden">Dashboard</span>
    </th>
  );
  const metadata = pinned ? ['Metadata'] : [];
  return ['State', name, 'Project', ...metadata, sizeColumn, 'Owner', 'Last activity', created, dashboard];
}

/** The cells of a session in a list: from its state to its dashboard. */
export function SessionCells({ session, pinned }: { session: SessionListRow; pinned: boolean }) {
  const { simulationName, dashboardUrl } = session;
  return (
    <>
      <td class="nowrap row-state">
        <StatePill session={session} />
      </td>
      <td class="row-name">
        <a class="row-link" href={`/sessions/${session.id}`} title={fullName(session)}>
          {session.name}
        </a>
        {session.frozen && <span class="tag">frozen</span>}
        <SessionStatus session={session} />
        {simulationName !== null && simulationName !== '' && <span class="faint"> {simulationName}</span>}
      </td>
      <td data-label="Project" class="row-cut row-plain" title={session.projectTitle}>
        {session.projectTitle}
      </td>
      <KnownBy session={session} pinned={pinned} />
      <td data-label="Created" class="nowrap">
        <Ago at={session.createdAt} />
      </td>
      <td class="row-dashboard">
        {dashboardUrl !== null && (
          <a
            class="button button-icon"
            href={dashboardUrl}
            aria-label={`Dashboard of ${session.name}`}
            title="Open the dashboard"
          >
            <Icon name="chart" />
          </a>
        )}
      </td>
    </>
  );
}
