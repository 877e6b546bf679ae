/** An upload to a managed ingest finds its session, or makes one, and becomes an output of its input node (decisions 8). */
import { defaultSessionName } from '../../domain/sessions/session-name.ts';
import type { Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import type { Ingest } from '../entities/ingest.ts';
import type { UploadedObject } from '../outputs/outputs.ts';
import { forgetLostRepeat, type Stores } from '../outputs/stored-repeat.ts';
import { changeSessionWithin } from '../runs/change-session.ts';
import { insertSession } from '../sessions/sessions.ts';
import { type PublishResult, publishUpload, publishUploadWithin } from '../uploads/publish-upload.ts';
import { type QueueResult, queueUpload, queueUploadWithin } from '../uploads/queued-uploads.ts';
import { claimFile, findIngested, settleFile } from './ingested-files.ts';

export type IngestUpload = Omit<UploadedObject, 'nodeInstanceId'>;

/** `node-missing`: the project, the template or its node is gone. */
export type FeedResult = PublishResult | QueueResult;

/** Sessions may be frozen or deleted between finding and feeding them. */
const maxTries = 5;

/** A result of which something refers to the upload's bytes, or to those of the same upload before it. */
export type AcceptedUpload = Exclude<FeedResult, { readonly outcome: 'frozen' | 'node-missing' }>;
/** Further writes of the transaction that publishes or queues. */
export type SettleUpload = (tx: Tx, fed: AcceptedUpload) => Promise<void>;

/**
 * Feeds an upload whose bytes are in storage. A new session for it is made in the transaction that publishes or queues
 * it, so that no session is left without its upload.
 * @param settle called in that transaction; not for a repeat that is found in a queue
 * @throws PendingObjectGone; AlreadyIngested for an identified file that has made its session before
 */
export async function feedIngest(
  stores: Stores,
  ingest: Ingest,
  upload: IngestUpload,
  settle: SettleUpload = async () => undefined,
): Promise<FeedResult> {
  const { database } = stores;
  for (let tries = 1; ; tries++) {
    const known = await knownNode(stores, ingest, upload);
    if (known === undefined) {
      await failpoint('upload-stored');
      const result = await database.transaction(
        oncePerKey(async (tx) => {
          const fed = await feedNewSession(tx, ingest, upload);
          if (isAccepted(fed)) await settle(tx, fed);
          return fed;
        }, isAccepted),
      );
      if (result === 'made-meanwhile') continue;
      await failpoint('ingest-fed');
      return result;
    } else {
      const target = { ...upload, nodeInstanceId: known };
      await forgetLostRepeat(stores, target);
      const result = ingest.project.queuedIngestion
        ? await queueUpload(database, target, settle)
        : await publishUpload(database, target, settle);
      const isGone = result.outcome === 'frozen' || result.outcome === 'node-missing';
      if (!isGone || tries >= maxTries) return result;
    }
  }
}

export const isAccepted = (result: FeedResult | 'made-meanwhile'): result is AcceptedUpload =>
  typeof result === 'object' && ('output' in result || 'projectId' in result);

async function feedNewSession(
  tx: Tx,
  ingest: Ingest,
  upload: IngestUpload,
): Promise<FeedResult | 'made-meanwhile'> {
  if (ingest.creationBehaviour === 'LatestSession') {
    // One request at a time makes a session; the others then find it.
    await tx.query('select 1 from ingest where id = $1 for no key update', [ingest.id]);
    if ((await latestNode(tx, ingest)) !== undefined) return 'made-meanwhile';
  }
  const claimed = await claimFile(tx, ingest, upload);
  const made = await insertSession(tx, {
    name: defaultSessionName(ingest.sessionTemplate.name, new Date()),
    simulationName: null,
    sessionTemplateId: ingest.sessionTemplate.id,
    projectId: ingest.project.id,
    participant: { identifier: ingest.createdBy, key: ingest.createdByKey },
    userId: ingest.createdBy,
    logoUrl: '',
    metadata: null,
  });
  if (made.outcome !== 'created') return { outcome: 'node-missing' };
  if (claimed !== null) await settleFile(tx, ingest, claimed, made.sessionId);
  const [node] = await tx.query<{ id: number }>(
    'select id from node_instance where session_id = $1 and name = $2',
    [made.sessionId, ingest.inputNode],
  );
  if (!node) throw new Error(`Template ${ingest.sessionTemplate.id} has no node for ingest ${ingest.id}.`);
  const target = { ...upload, nodeInstanceId: node.id };
  if (ingest.project.queuedIngestion) return queueUploadWithin(tx, target);
  const published = await changeSessionWithin(tx, { sessionId: made.sessionId }, (session) =>
    publishUploadWithin(tx, session, target),
  );
  return published!;
}

/** The node that the upload feeds; undefined when it makes a session. */
async function knownNode(stores: Stores, ingest: Ingest, upload: IngestUpload): Promise<number | undefined> {
  if (ingest.creationBehaviour === 'LatestSession') return await latestNode(stores.database, ingest);
  const place = await findIngested(stores, ingest, upload);
  return place?.isLost ? place.nodeInstanceId : undefined;
}

/** The input node of the newest session of the ingest's project and template that is neither frozen nor closed. */
async function latestNode(database: Queryable, ingest: Ingest): Promise<number | undefined> {
  const [node] = await database.query<{ id: number }>(
    `select n.id from session s join node_instance n on n.session_id = s.id and n.name = $3
      where s.project_id = $1 and s.session_template_id = $2 and s.frozen_at is null and s.closed_at is null
      order by s.created_at desc, s.id desc limit 1`,
    [ingest.project.id, ingest.sessionTemplate.id, ingest.inputNode],
  );
  return node?.id;
}
