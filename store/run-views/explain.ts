/** What is known of a node that does not run: the facts behind `explain`. */

import type { FullLimit } from '../../domain/runners/concurrency.ts';
import type { ExplainFacts } from '../../domain/runs/explain.ts';
import { heldDetails, visibleNodeState } from '../../domain/runs/node-state.ts';
import type { RunProgress } from '../../domain/runs/run-progress.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { isOpen } from '../runners/lease.ts';
import { claimsTasksOf, seenInstances } from '../runners/runner-instances.ts';
import { claimOrder } from '../runs/claim-order.ts';
import { fullLimitsOfNode } from '../runs/concurrency.ts';
import { claimable } from '../runs/queue.ts';
import { rejectedCount } from '../runs/rejections.ts';

export interface ExplainedNode extends ExplainFacts {
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly sessionId: string;
}

interface NodeRow
  extends Omit<
    ExplainedNode,
    'state' | 'statusDetails' | 'parents' | 'openRun' | 'heldBy' | 'lastRun' | 'runners' | 'fullLimits'
  > {
  readonly runnerType: string;
  readonly runtime: string;
  readonly storedState: number;
  readonly storedDetails: string;
}

type OpenRun = NonNullable<ExplainFacts['openRun']>;
interface OpenRow extends OpenRun {
  readonly instanceId: string | null;
  readonly leaseExpiresAt: Date | null;
  readonly claimedAt: Date | null;
  readonly phase: string | null;
  readonly message: string | null;
  readonly progress: RunProgress | null;
  readonly pendingInputs: number | null;
}

/** Undefined when there is no such node instance. */
export async function readExplainFacts(
  database: Database,
  nodeInstanceId: number,
): Promise<ExplainedNode | undefined> {
  const [node] = await database.query<NodeRow>(nodeStatement, [nodeInstanceId]);
  if (node === undefined) return undefined;
  const [parents, [open], [lastRun], runners, fullLimits] = await Promise.all([
    readParents(database, nodeInstanceId),
    database.query<OpenRow>(openStatement, [nodeInstanceId]),
    database.query<NonNullable<ExplainFacts['lastRun']>>(lastStatement, [nodeInstanceId]),
    node.runtime === 'system' ? null : readRunners(database, node),
    database.query<FullLimit>(fullLimitsOfNode, [nodeInstanceId]),
  ]);
  const { storedState, storedDetails, runnerType: _type, runtime: _runtime, ...shown } = node;
  const isHeld = open?.state === 'held';
  return {
    ...shown,
    state: visibleNodeState(storedState, isHeld),
    statusDetails: isHeld ? heldDetails(open.phase, open.message) : storedDetails,
    parents,
    openRun: open === undefined ? null : runOf(open),
    heldBy: open === undefined ? null : holderOf(open),
    lastRun: lastRun ?? null,
    runners,
    fullLimits,
  };
}

function holderOf({ instanceId, leaseExpiresAt, claimedAt, progress, pendingInputs }: OpenRow) {
  if (instanceId === null || leaseExpiresAt === null || claimedAt === null) return null;
  return { instanceId, leaseExpiresAt, claimedAt, progress, pendingInputs };
}

function runOf(row: OpenRow): OpenRun {
  const { id, state, attempt, maxAttempts, reason, queuedAt, dueAt, cancelRequested, tasksAhead } = row;
  return { id, state, attempt, maxAttempts, reason, queuedAt, dueAt, cancelRequested, tasksAhead };
}

const nodeStatement = `
  select clock_timestamp() as now, n.id as node_instance_id, n.name as node_name, t.name as node_template,
         n.session_id, t.type = 'Input' as is_input, t.trigger, n.state as stored_state,
         n.status_details as stored_details, n.last_processed, s.frozen_at,
         t.runner_type, y.runtime,
         (select count(*) from queued_upload q where q.node_instance_id = n.id) as queued_uploads,
         ${rejectedCount('n.id')} as rejected_inputs,
         (select json_build_object('outputIdentifier', o.output_identifier, 'metadata', o.metadata,
                                   'category', j.category, 'reason', j.reason)
            from rejected_input j join node_output o on o.id = j.output_id where j.node_instance_id = n.id
           order by j.rejected_at desc limit 1) as last_rejection
    from node_instance n join session s on s.id = n.session_id join node_template t on t.id = n.node_template_id
    join runner_type y on y.name = t.runner_type
   where n.id = $1`;

const openStatement = `
  select r.id, r.state, r.attempt, r.max_attempts, r.reason, r.created_at as queued_at,
         r.due_at, r.cancel_requested, c.instance_id,
         c.lease_until as lease_expires_at, c.claimed_at, c.phase, c.message, c.progress,
         case when c.incremental then c.pending_inputs end as pending_inputs,
         (select count(*) from (
            select 1 from node_run x
             where r.state = 'queued' and ${claimable('x')} and x.template_name = r.template_name
               and ${claimOrder('x')} < ${claimOrder('r')} limit 1000) ahead) as tasks_ahead
    from node_run r left join node_claim c on c.run_id = r.id and ${isOpen}
   where r.node_instance_id = $1 and r.state <> 'done'`;

/** The newest runs' last to end: a run that was retried may be older than a later run over chosen inputs. */
const lastStatement = `
  select r.id, r.outcome, r.status_details, r.attempt, r.max_attempts, r.ended_at
    from (select * from node_run where node_instance_id = $1 and state = 'done' order by created_at desc limit 100) r
   order by r.ended_at desc limit 1`;

async function readParents(database: Queryable, nodeInstanceId: number) {
  const rows = await database.query<{
    nodeInstanceId: number;
    name: string;
    storedState: number;
    isHeld: boolean;
    hasOutput: boolean;
    isNews: boolean;
  }>(
    `select p.id as node_instance_id, p.name, p.state as stored_state,
            exists (select 1 from node_run h where h.node_instance_id = p.id and h.state = 'held') as is_held,
            p.newest_position > 0 as has_output, p.newest_position > n.consumed_position as is_news
       from node_instance n join node_instance p on p.id = any (n.parent_ids)
      where n.id = $1 order by p.ordinal`,
    [nodeInstanceId],
  );
  return rows.map(({ storedState, isHeld, ...shown }) => ({
    ...shown,
    state: visibleNodeState(storedState, isHeld),
  }));
}

/** Accounts may claim tasks of all external runner types; counts only those that claim tasks of the node's template. */
async function readRunners(database: Queryable, { runnerType, runtime, nodeTemplate }: NodeRow) {
  const [row] = await database.query<Omit<NonNullable<ExplainFacts['runners']>, 'runnerType'>>(
    `with of_type as (select * from (${seenInstances}) s where $1 = any (s.runner_types))
     select coalesce(max(i.last_seen_at), (select max(o.last_seen_at) from of_type o)) as last_seen_at,
            count(*) filter (where is_there) as recent,
            count(*) filter (where is_there and is_busy and not i.drained) as recent_busy,
            count(*) filter (where is_there and i.drained) as recent_drained,
            (select count(*) from of_type o where o.may_claim and o.state <> 'gone') as of_type
       from (
         select p.*, p.may_claim and p.state <> 'gone' as is_there from (${seenInstances}) p
          where ${claimsTasksOf({ template: '$3', runnerType: '$1', runtime: '$2' })}
       ) i`,
    [runnerType, runtime, nodeTemplate],
  );
  return { runnerType, ...row! };
}
