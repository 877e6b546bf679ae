/** Node instances of a session as their progress is shown (contract: Node instance progress). */
import {
  heldDetails,
  type NodeState,
  nodeStateCodes,
  visibleNodeState,
} from '../../domain/runs/node-state.ts';
import type { NodeTemplateType } from '../../domain/templates/template-file.ts';
import type { Queryable } from '../connection/database.ts';
import { isOpen } from '../runners/lease.ts';
import { rejectedCount } from '../runs/rejections.ts';

export interface NodeProgress {
  readonly id: number;
  readonly name: string;
  readonly nodeTemplateId: number;
  readonly nodeTemplateName: string;
  readonly nodeTemplateType: NodeTemplateType;
  readonly state: NodeState | 'Unknown';
  /** As stored, or that of `Processing` while a runner holds the node's run. */
  readonly stateCode: number;
  /** While held: `<phase>: <message>` of the runner's last heartbeat. */
  readonly statusDetails: string;
  readonly lastProcessed: Date | null;
  /** The newest output. */
  readonly currentOutputId: number | null;
  readonly rejectedInputs: number;
  readonly parentIds: readonly number[];
  /** JSON text, as stored. */
  readonly configuration: string;
  /** What the session template said when the node got it; null: `configuration`. JSON text. */
  readonly templateConfiguration: string | null;
}

interface Row {
  readonly id: number | null;
  readonly name: string;
  readonly nodeTemplateId: number;
  readonly nodeTemplateName: string;
  readonly nodeTemplateType: NodeTemplateType;
  readonly storedState: number;
  readonly storedDetails: string;
  readonly isHeld: boolean;
  readonly phase: string | null;
  readonly message: string | null;
  readonly lastProcessed: Date | null;
  readonly currentOutputId: number | null;
  readonly rejectedInputs: number;
  readonly parentIds: readonly number[];
  readonly configuration: string;
  readonly templateConfiguration: string | null;
}

/** The session's nodes in the order of its template; undefined when there is no such session. One statement. */
export async function sessionProgress(
  database: Queryable,
  sessionId: string,
): Promise<NodeProgress[] | undefined> {
  const rows = await database.query<Row>(
    `select n.id, n.name, n.node_template_id, t.name as node_template_name,
            t.type as node_template_type, n.state as stored_state, n.status_details as stored_details,
            coalesce(r.state = 'held', false) as is_held, c.phase, c.message,
            n.last_processed, n.newest_output_id as current_output_id, ${rejectedCount('n.id')} as rejected_inputs,
            n.parent_ids, n.configuration, n.template_configuration
       from session s
       left join node_instance n on n.session_id = s.id
       left join node_template t on t.id = n.node_template_id
       left join node_run r on r.node_instance_id = n.id and r.state <> 'done'
       left join node_claim c on c.run_id = r.id and ${isOpen}
      where s.id = $1
      order by n.ordinal`,
    [sessionId],
  );
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) => (row.id === null ? [] : [progressOf(row, row.id)]));
}

function progressOf(row: Row, id: number): NodeProgress {
  const { storedState, storedDetails, isHeld, phase, message, ...shown } = row;
  return {
    ...shown,
    id,
    state: visibleNodeState(storedState, isHeld),
    stateCode: isHeld ? nodeStateCodes.Processing : storedState,
    statusDetails: isHeld ? heldDetails(phase, message) : storedDetails,
  };
}
