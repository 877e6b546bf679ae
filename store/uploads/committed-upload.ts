/** An upload whose commit got no answer: it may have been made all the same. */
import { dropAudit } from '../connection/audit-scope.ts';
import type { Queryable } from '../connection/database.ts';
import { type NodeOutputRow, outputColumns, type UploadedObject } from '../outputs/outputs.ts';
import type { PublishResult } from './publish-upload.ts';
import type { QueueResult } from './queued-uploads.ts';

type Queued = Extract<QueueResult, { readonly outcome: 'queued' }>;
type Committed = Extract<PublishResult, { readonly outcome: 'created' | 'replaced' }> | Queued;

/**
 * What refers to an upload's object by now; undefined while it is pending. The transaction that made it carried the audit
 * entry.
 */
export async function findCommitted(
  database: Queryable,
  { objectKey, dataSourceId }: Pick<UploadedObject, 'objectKey' | 'dataSourceId'>,
): Promise<Committed | undefined> {
  const pending = await database.query('select 1 from pending_object where object_key = $1', [objectKey]);
  if (pending.length > 0) return undefined;
  const object = [objectKey, dataSourceId];
  const [output] = await database.query<NodeOutputRow>(
    `select ${outputColumns} from node_output o where o.object_key = $1 and o.data_source_id = $2`,
    object,
  );
  const made =
    output === undefined ? await findQueued(database, object) : ({ outcome: 'created', output } as const);
  if (made !== undefined) dropAudit();
  return made;
}

async function findQueued(database: Queryable, object: readonly unknown[]): Promise<Queued | undefined> {
  const [row] = await database.query<Omit<Queued, 'outcome'>>(
    `select id, project_id, session_id, node_instance_id from queued_upload
      where object_key = $1 and data_source_id = $2`,
    object,
  );
  return row && { outcome: 'queued', ...row };
}
