/** Finishes resumable uploads whose last byte is stored when no caller comes back for them. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import { type AuditedCall, runAudited } from '../store/connection/audit-scope.ts';
import type { Database } from '../store/connection/database.ts';
import { ingestWhole, type UploadOutcome } from '../store/ingests/finish-ingest-upload.ts';
import { findIngest } from '../store/ingests/ingests.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { findUploadTarget } from '../store/outputs/outputs.ts';
import {
  type AssembledObject,
  assembleUpload,
  publishWhole,
  storeEmptyUpload,
  UploadLost,
} from '../store/uploads/finish-resumable-upload.ts';
import { acquireForgottenUpload } from '../store/uploads/forgotten-uploads.ts';
import {
  discardResumableUpload,
  type ResumableUpload,
  releaseWriter,
  renewWriters,
} from '../store/uploads/resumable-uploads.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { queueTarget } from '../workflows/targets.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 5_000;
const renewEveryMs = 1_000;
/** A store may need minutes to assemble a long one, which must not hold up the others. */
const lanes = 2;

interface Parts {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly workflows: Pick<WorkflowClient, 'notify'>;
  readonly log: Logger;
}

/** Safe in several processes at once: each upload has one writer. */
export function startUploadFinisher(parts: Parts): Loop[] {
  return Array.from({ length: lanes }, (_, lane) =>
    startLoop(`upload finisher ${lane + 1}`, everyMs, parts.log, async (signal) => {
      while (!signal.aborted && (await finishForgotten(parts)));
    }),
  );
}

/** @returns whether there was one */
async function finishForgotten(parts: Parts): Promise<boolean> {
  const { database, log } = parts;
  const writer = randomUUID();
  const upload = await acquireForgottenUpload(database, writer, limits.uploadForgottenSeconds);
  if (upload === undefined) return false;
  const { nodeInstanceId, ingestId } = upload;
  const ids = { upload: upload.id, nodeInstanceId, ingestId };
  const renewing = setInterval(
    () => void renewWriters(database, new Map([[writer, upload.id]])).catch(() => undefined),
    renewEveryMs,
  );
  try {
    const outcome = await finish(parts, upload, writer);
    log.info({ ...ids, outcome }, 'finished an upload whose caller did not return');
  } catch (error) {
    if (error instanceof UploadLost) log.error({ ...ids, err: error }, 'the store lost parts of an upload');
    else log.warn({ ...ids, err: error }, 'an upload could not be finished; will be retried');
  } finally {
    clearInterval(renewing);
    // Where this fails, the writer counts as gone soon.
    await releaseWriter(database, upload.id, writer).catch(() => undefined);
  }
  return true;
}

async function finish(parts: Parts, upload: ResumableUpload, writer: string): Promise<string> {
  const { nodeInstanceId, ingestId } = upload;
  const result =
    ingestId === null
      ? await finishOutput(parts, upload, writer, nodeInstanceId)
      : await finishIngest(parts, upload, writer, ingestId);
  if (result === null || result.outcome === 'node-missing') {
    await discardResumableUpload(parts.database, upload.id);
    return 'its place is gone';
  }
  if (result.outcome === 'queued') parts.workflows.notify(queueTarget(result.projectId));
  return result.outcome;
}

/** @returns null without its node */
async function finishOutput(
  parts: Parts,
  upload: ResumableUpload,
  writer: string,
  nodeInstanceId: number | null,
): Promise<UploadOutcome | null> {
  const { database } = parts;
  if (nodeInstanceId === null) return null;
  const target = await findUploadTarget(database, nodeInstanceId);
  if (target === undefined) return null;
  if (target.frozen) return { outcome: 'frozen' };
  const object = { ...(await assembled(parts, upload, writer)), nodeInstanceId };
  const place = { objectType: 'nodeInstance', objectId: String(nodeInstanceId) } as const;
  const call = { ...place, action: 'uploadNodeOutput', actorId: upload.userId };
  return await audited(database, call, () =>
    publishWhole(database, { id: upload.id, writer }, object, target),
  );
}

/** @returns null without its ingest */
async function finishIngest(
  parts: Parts,
  upload: ResumableUpload,
  writer: string,
  ingestId: number,
): Promise<UploadOutcome | null> {
  const { database } = parts;
  const ingest = await findIngest(database, ingestId);
  if (ingest === undefined) return null;
  const object = await assembled(parts, upload, writer);
  const place = { objectType: 'ingest', objectId: String(ingestId) } as const;
  const call = { ...place, action: 'ingestFile', actorId: String(ingestId) };
  return await audited(database, call, () => ingestWhole(parts, { id: upload.id, writer }, object, ingest));
}

async function assembled(parts: Parts, upload: ResumableUpload, writer: string): Promise<AssembledObject> {
  if (upload.state === 'open') await storeEmptyUpload(parts, upload, writer);
  return await assembleUpload(parts, upload);
}

/** Recorded as an action of the caller who began the upload, whose last call died with its process. */
function audited<T extends { readonly outcome: string }>(
  database: Database,
  call: Pick<AuditedCall, 'action' | 'actorId' | 'objectType' | 'objectId'>,
  work: () => Promise<T>,
): Promise<T> {
  return runAudited(
    database,
    { ...call, actorKind: 'platform', actorRole: null, requestId: null, network: null },
    work,
    ({ outcome }) => outcome !== 'frozen' && outcome !== 'node-missing',
  );
}
