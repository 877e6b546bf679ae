import { Ago } from '../ui/ago.tsx';
import { Table } from '../ui/table.tsx';

export interface ShownSession {
  id: string;
  name: string;
  simulationName: string | null;
  project: string;
  createdAt: string;
  metadata: Record<string, unknown> | null;
}

/** Sessions as rows that open them. */
export function SessionTable(props: { rows: ShownSession[]; busy: boolean }) {
  return (
    <Table caption="Sessions" columns={['Session', 'Project', 'Created']} busy={props.busy}>
      {props.rows.map((row) => (
        <tr key={row.id}>
          <td>
            <a class="row-link" href={`/sessions/${row.id}`}>
              {row.name}
            </a>
            <SharedStatus metadata={row.metadata} />
            {row.simulationName !== null && row.simulationName !== '' && (
              <div class="faint">{row.simulationName}</div>
            )}
          </td>
          <td data-label="Project" class="wrap-anywhere">
            {row.project}
          </td>
          <td data-label="Created" class="nowrap">
            <Ago at={row.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Shared sessions carry `open` or `closed` in their metadata. */
export function SharedStatus(props: { metadata: Record<string, unknown> | null }) {
  const status = props.metadata?.status;
  if (status !== 'open' && status !== 'closed') return null;
  return <span class="tag">{status === 'open' ? 'shared, open' : 'shared, closed'}</span>;
}
