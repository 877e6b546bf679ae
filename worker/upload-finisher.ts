/** Finishes resumable uploads whose last byte is stored when no caller comes back for them. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import { runAudited } from '../store/administration/audit-scope.ts';
import type { Database } from '../store/connection/database.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { findUploadTarget } from '../store/outputs/outputs.ts';
import {
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
    startLoop(`upload finisher ${lane + 1}`, everyMs, parts.log, async () => {
      while (await finishForgotten(parts));
    }),
  );
}

/** @returns whether there was one */
async function finishForgotten(parts: Parts): Promise<boolean> {
  const { database, log } = parts;
  const writer = randomUUID();
  const upload = await acquireForgottenUpload(database, writer, limits.uploadForgottenSeconds);
  if (upload === undefined) return false;
  const ids = { upload: upload.id, nodeInstanceId: upload.nodeInstanceId };
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
  const { database, workflows } = parts;
  const target = await findUploadTarget(database, upload.nodeInstanceId);
  if (target?.frozen) return 'frozen';
  if (target !== undefined) {
    if (upload.state === 'open') await storeEmptyUpload(parts, upload, writer);
    const object = await assembleUpload(parts, upload);
    const result = await audited(database, upload, () =>
      publishWhole(database, upload.id, writer, object, target.queuedIngestion),
    );
    if (result.outcome === 'queued') workflows.notify(queueTarget(result.projectId));
    if (result.outcome !== 'node-missing') return result.outcome;
  }
  await discardResumableUpload(database, upload.id);
  return 'node-missing';
}

/** On behalf of whoever began it: their last call died with its process. */
function audited<T extends { readonly outcome: string }>(
  database: Database,
  { userId, nodeInstanceId }: ResumableUpload,
  work: () => Promise<T>,
): Promise<T> {
  return runAudited(
    database,
    {
      action: 'uploadNodeOutput',
      actorKind: 'platform',
      actorId: userId,
      actorRole: null,
      objectType: 'nodeInstance',
      objectId: String(nodeInstanceId),
      requestId: null,
      network: null,
    },
    work,
    ({ outcome }) => outcome !== 'frozen' && outcome !== 'node-missing',
  );
}
