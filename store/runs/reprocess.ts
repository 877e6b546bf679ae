/**
 * Reprocess: a node with parents runs again, an Input node's newest output is appended once more (decisions, section 7).
 *
 * A reprocess of chosen inputs hands out these alone. It neither consumes the others nor moves the node's watermark.
 *
 * A reprocess run, its retries and its follow-ups use a watermark of the run's own (`node_run.reprocess_position`,
 * `reprocess_output_id`). It begins just below the first input of the run; for an incremental node at the node's
 * watermark when that is lower, so that no unconsumed input is skipped.
 */
import { copyOfKey } from '../../domain/outputs/output-copy.ts';
import { hasInputs } from '../../domain/runs/run-plan.ts';
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import { objectColumns } from '../outputs/outputs.ts';
import { markPublished, nextPosition } from '../outputs/publish-output.ts';
import {
  type Change,
  changed,
  changeSessionWithin,
  type LockedSession,
  unchanged,
} from './change-session.ts';
import { planSession } from './plan-session.ts';

/**
 * The step of a claim that finds where the run's own watermark begins. One row at the first claim of a reprocess run,
 * none otherwise. Needs a step `pick` with the run's id.
 */
export const reprocessStart = `
  select start.position, start.output_id
    from pick join node_run r on r.id = pick.id cross join lateral reprocess_start(r.id) start
   where r.reason = 'reprocess' and r.reprocess_position is null`;

export type ReprocessResult =
  | {
      readonly outcome: 'queued';
      /** Outputs of the parents that retention has removed, so that the run goes without them. */
      readonly expiredInputs: number;
    }
  | { readonly outcome: 'node-missing' | 'frozen' | 'no-inputs' }
  | { readonly outcome: 'unknown-input'; readonly outputId: number };

/**
 * Reprocesses a node, in one transaction. While the node is in flight, requests wait behind its run and become one run
 * together; those for chosen inputs make another one, of all that they chose.
 * @param inputs the output ids of the inputs to hand out; null: what the node template says
 */
export async function requestReprocess(
  database: Database,
  nodeInstanceId: number,
  inputs: readonly number[] | null = null,
): Promise<ReprocessResult> {
  const requested = await database.transaction(
    oncePerKey(
      async (tx): Promise<ReprocessResult> =>
        (await changeSessionWithin(tx, { nodeInstanceId }, (session) =>
          reprocessWithin(tx, session, nodeInstanceId, inputs),
        )) ?? { outcome: 'node-missing' },
      ({ outcome }) => outcome === 'queued',
    ),
  );
  await failpoint('reprocess-committed');
  return requested;
}

/** As {@link requestReprocess}, in the transaction that holds the session. */
export async function reprocessWithin(
  tx: Tx,
  session: LockedSession,
  nodeInstanceId: number,
  inputs: readonly number[] | null,
): Promise<Change<ReprocessResult>> {
  if (session.frozen) return unchanged({ outcome: 'frozen' });
  const [node] = await tx.query<ReprocessFacts>(
    `select t.type = 'Input' as is_input, t.trigger, n.newest_output_id,
            coalesce((select array_agg(p.newest_position) from node_instance p where p.id = any (n.parent_ids)), '{}')
              as parent_positions,
            case when t.reprocess = 'all' and $2::bigint[] is null
                 then (select coalesce(sum(p.expired_outputs), 0)::int from node_instance p where p.id = any (n.parent_ids))
                 else 0 end as expired_inputs,
            (select min(c.id) from unnest($2::bigint[]) as c (id)
              where not exists (select from node_output o where o.id = c.id and o.position is not null
                                                            and o.node_instance_id = any (n.parent_ids))) as unknown_input
       from node_instance n join node_template t on t.id = n.node_template_id where n.id = $1`,
    [nodeInstanceId, inputs],
  );
  if (!node) return unchanged({ outcome: 'node-missing' });
  if (node.unknownInput !== null) return unchanged({ outcome: 'unknown-input', outputId: node.unknownInput });
  if (node.isInput) {
    if (node.newestOutputId === null) return unchanged({ outcome: 'no-inputs' });
    await appendCopy(tx, session, node.newestOutputId);
  } else {
    if (!hasInputs(node)) return unchanged({ outcome: 'no-inputs' });
    await tx.query(wantReprocess, [nodeInstanceId, inputs]);
  }
  await planSession(tx, session, nodeInstanceId);
  return changed({ outcome: 'queued', expiredInputs: node.expiredInputs });
}

const wantReprocess = `
  update node_instance
     set reprocess_wanted = reprocess_wanted or $2::bigint[] is null,
         reprocess_input_ids = case when $2 is null then reprocess_input_ids
                                    else array(select unnest(reprocess_input_ids) union select unnest($2)) end
   where id = $1`;

interface ReprocessFacts {
  readonly isInput: boolean;
  readonly trigger: 'all' | 'any';
  readonly newestOutputId: number | null;
  readonly parentPositions: readonly number[];
  readonly expiredInputs: number;
  /** One of the chosen inputs that is no output of a parent. */
  readonly unknownInput: number | null;
}

/** Publishes an output once more: a new id and position over the same object, which both rows refer to from now on. */
async function appendCopy(tx: Tx, session: LockedSession, outputId: number): Promise<void> {
  const [copy] = await tx.query<{
    id: number;
    nodeInstanceId: number;
    position: number;
    sizeBytes: number;
  }>(
    `insert into node_output
            (session_id, node_instance_id, configuration, configuration_revision, position, object_offset,
             output_identifier, metadata, created_at, ${objectColumns})
     select o.session_id, o.node_instance_id, n.configuration, n.configuration_revision, $2, o.object_offset, $3,
            coalesce(o.metadata, '{}') || jsonb_build_object('${copyOfKey}', coalesce(
              o.metadata -> '${copyOfKey}',
              jsonb_build_object('outputId', o.id, 'outputIdentifier', o.output_identifier))),
            $4, ${objectColumns}
       from node_output o join node_instance n on n.id = o.node_instance_id where o.id = $1
     returning id, node_instance_id, position, size_bytes`,
    [outputId, nextPosition(session), newId(), session.publishedAt],
  );
  session.publishedBytes += copy!.sizeBytes;
  await markPublished(tx, copy!);
}
