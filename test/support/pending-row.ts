import type { Queryable } from '../../store/connection/database.ts';

/** The pending row of an object that a test stores by itself, without heartbeats. */
export async function writePendingRow(
  database: Queryable,
  objectKey: string,
  dataSourceId: number,
  nodeInstanceId: number | null = null,
): Promise<void> {
  await database.query(
    'insert into pending_object (object_key, data_source_id, node_instance_id) values ($1, $2, $3)',
    [objectKey, dataSourceId, nodeInstanceId],
  );
}
