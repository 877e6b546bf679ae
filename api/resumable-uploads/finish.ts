/** The call that brings an upload's last byte, or finds it whole, makes the output. */
import { Problem } from '../../domain/errors.ts';
import { clientNetwork } from '../../http/server/client-address.ts';
import { type AuditedCall, runAudited } from '../../store/connection/audit-scope.ts';
import type { UploadOutcome } from '../../store/ingests/finish-ingest-upload.ts';
import {
  type AssembledObject,
  assembleUpload,
  publishWhole,
  UploadLost,
} from '../../store/uploads/finish-resumable-upload.ts';
import { type ResumableUpload, WriterLost } from '../../store/uploads/resumable-uploads.ts';
import type { Principal } from '../identity/auth-client.ts';
import { findTarget } from '../node-instances/upload.ts';
import type { Services } from '../services.ts';
import { storeProblem } from '../uploads/bytes-problem.ts';
import { accepted, notifyQueue, publishToSession } from '../uploads/commit-upload.ts';
import { uploadNow } from './handling.ts';
import { type UploadWriter, uploadBusy } from './writers.ts';

/** The call that sends the last byte of an upload, as the audit shows it. */
export interface CompletingCall {
  readonly requestId: string;
  readonly request: {
    readonly remoteAddress: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
  };
}

/** The same, of a person or device. */
export interface SignedInCompletingCall extends CompletingCall {
  readonly principal: Principal;
}

/**
 * Makes the output of an upload whose bytes are all in the store. Not cancelled when the caller hangs up: the next
 * request finds it done. Safe to repeat from any point; without a repeat a worker finishes it.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`, `uploadNotFound`, `uploadBusy`, `unavailable`; the bytes stay
 */
export async function finishUpload(
  services: Services,
  writer: UploadWriter,
  call: SignedInCompletingCall,
): Promise<ResumableUpload> {
  const { database } = services;
  const { id } = writer.upload;
  const found = await uploadNow(services, id);
  const { nodeInstanceId } = found;
  if (found.state === 'done') return found;
  if (nodeInstanceId === null) throw new Problem('uploadNotFound');
  const target = await findTarget(database, nodeInstanceId);
  const object = { ...(await assemble(services, found)), nodeInstanceId };
  const publish = () => publishWhole(database, { id, writer: writer.id }, object, target);
  const { principal } = call;
  const action = {
    action: 'uploadNodeOutput',
    actorKind: principal.kind === 'offline' ? 'device' : 'user',
    actorId: principal.userId,
    actorRole: principal.role,
    objectType: 'nodeInstance',
    objectId: String(nodeInstanceId),
  } as const;
  return await endUpload(services, id, call, action, () => publishToSession(target.sessionId, publish));
}

/**
 * Runs the work that ends an upload, as an audited action of the last call; a queue that it fed is notified.
 * @returns the upload as it is then
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`, `uploadBusy` when another writer has it; what `work` throws
 */
export async function endUpload(
  services: Services,
  uploadId: string,
  { requestId, request }: CompletingCall,
  action: Omit<AuditedCall, 'requestId' | 'network'>,
  work: () => Promise<UploadOutcome>,
): Promise<ResumableUpload> {
  const { remoteAddress, headers } = request;
  const proxies = services.settings.TRUSTED_PROXIES;
  const network = clientNetwork(remoteAddress, headers['x-forwarded-for'], proxies);
  const call = { ...action, requestId, network };
  const end = async () => accepted(await work());
  const result = await runAudited(services.database, call, end, () => true).catch((error) => {
    throw error instanceof WriterLost ? uploadBusy(error) : error;
  });
  if (result.outcome === 'queued') await notifyQueue(services, result);
  return await uploadNow(services, uploadId);
}

/** @throws Problem `uploadNotFound` when the store has lost it, `unavailable` */
export async function assemble(services: Services, upload: ResumableUpload): Promise<AssembledObject> {
  try {
    return await assembleUpload(services, upload);
  } catch (error) {
    if (error instanceof UploadLost) {
      services.log.error({ err: error, upload: upload.id }, 'the store lost parts of an upload');
      throw new Problem('uploadNotFound', { cause: error });
    }
    throw storeProblem(error);
  }
}
