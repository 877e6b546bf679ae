import type { ComponentChild } from 'preact';
import type { SessionListRow } from '../api.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { spareColumn } from '../ui/table.tsx';
import type { ShownRow } from './list-model.ts';
import { fullName, KnownBy, SessionStatus, StatePill } from './row-parts.tsx';

/** What the rows of a list have beside what all have. */
export interface RowParts {
  readonly project: boolean;
  readonly pinned: boolean;
}

/** Rows of one project alone do without its name. @param projectId that of all rows; null: of several */
export const partsOf = (rows: readonly ShownRow[], projectId: number | null): RowParts => ({
  project: projectId === null,
  pinned: rows.some(({ session }) => session.pinnedMetadata.length > 0),
});

/** The headings of the cells; a list that can be sorted has two of its own. */
export function sessionColumns(
  { project, pinned }: RowParts,
  name: ComponentChild = 'Session',
  created: ComponentChild = 'Created',
): ComponentChild[] {
  const dashboard = (
    <th key="dashboard" scope="col">
      <span class="visually-hidden">Dashboard</span>
    </th>
  );
  const parts = [project && 'Project', pinned && 'Metadata'].filter((part) => part !== false);
  const known = [spareColumn('Size', 'figure'), spareColumn('Owner'), spareColumn('Last activity')];
  return ['State', name, ...parts, ...known, created, dashboard];
}

/** The cells of a session in a list: from its state to its dashboard. */
export function SessionCells({ session, parts }: { session: SessionListRow; parts: RowParts }) {
  const { simulationName, dashboardUrl } = session;
  return (
    <>
      <td class="nowrap row-state">
        <StatePill session={session} />
      </td>
      <td class="row-name">
        <div class="row-line">
          <a class="row-link" href={`/sessions/${session.id}`} title={fullName(session)}>
            {session.name}
          </a>
          {session.frozen && <span class="tag">frozen</span>}
          <SessionStatus session={session} />
          {simulationName !== null && simulationName !== '' && <span class="faint">{simulationName}</span>}
        </div>
      </td>
      {parts.project && (
        <td data-label="Project" class="row-cut row-plain" title={session.projectTitle}>
          {session.projectTitle}
        </td>
      )}
      <KnownBy session={session} pinned={parts.pinned} />
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
