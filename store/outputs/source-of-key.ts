/** Recordings of outputs with a source key (domain/outputs/source-key.ts). */
import type { OutputName } from '../../domain/outputs/output-copy.ts';
import type { Queryable } from '../connection/database.ts';

/** What a recording says of its source, where that has a key. */
export interface KeyedSource extends OutputName {
  /** The node whose outputs have the key. */
  readonly nodeInstanceId: number;
  readonly key: string;
}

/**
 * The source that an earlier recording of the node has for this key. Read from the recording: the output that was the
 * source first may be gone, and of two that are uploaded at once either may be published first.
 */
export async function sourceOfKey(
  database: Queryable,
  recordingNodeId: number,
  { nodeInstanceId, key }: Pick<KeyedSource, 'nodeInstanceId' | 'key'>,
): Promise<OutputName | undefined> {
  const [earlier] = await database.query<{ source: OutputName }>(
    `select o.metadata -> 'source' as source from node_output o
      where o.node_instance_id = $1 and o.metadata #>> '{source,key}' = $2
        and o.metadata #> '{source,nodeInstanceId}' = to_jsonb($3::bigint)
      limit 1`,
    [recordingNodeId, key, nodeInstanceId],
  );
  return earlier?.source;
}
