/** The call that brings the last byte of an upload to a managed ingest performs the ingest. */
import { Problem } from '../../domain/errors.ts';
import { defaultSessionName } from '../../domain/sessions/session-name.ts';
import { clientNetwork } from '../../http/server/client-address.ts';
import { type AuditedCall, runAudited } from '../../store/administration/audit-scope.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import { ingestWhole } from '../../store/uploads/finish-ingest-upload.ts';
import { type ResumableUpload, WriterLost } from '../../store/uploads/resumable-uploads.ts';
import type { Services } from '../services.ts';
import { notifyQueue } from '../uploads/commit-upload.ts';
import { assembled, type LastCall } from './finish.ts';
import { uploadNow } from './handling.ts';
import { type UploadWriter, uploadBusy } from './writers.ts';

/**
 * Makes or feeds a session with an upload whose bytes are all in the store, once. Safe to repeat from any point; where
 * nobody repeats it, a worker does.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`, `uploadNotFound`, `uploadBusy`, `unavailable`; the bytes stay
 */
export async function finishIngest(
  services: Services,
  writer: UploadWriter,
  ingest: Ingest,
  call: Omit<LastCall, 'principal'>,
): Promise<ResumableUpload> {
  const { database } = services;
  const { id } = writer.upload;
  const found = await uploadNow(services, id);
  if (found.state === 'done') return found;
  const object = await assembled(services, found);
  const name = defaultSessionName(ingest.sessionTemplate.name, new Date());
  const result = await runAudited(
    database,
    auditedCall(services, ingest, call),
    async () => {
      const fed = await ingestWhole(database, { id, writer: writer.id }, object, ingest, name);
      if (fed.outcome === 'frozen') throw new Problem('sessionFrozen');
      if (fed.outcome === 'node-missing') throw new Problem('nodeInstanceNotFound');
      return fed;
    },
    () => true,
  ).catch((error) => {
    throw error instanceof WriterLost ? uploadBusy(error) : error;
  });
  if (result.outcome === 'queued') await notifyQueue(services, result);
  return await uploadNow(services, id);
}

function auditedCall(
  { settings }: Services,
  { id }: Ingest,
  { requestId, request }: Omit<LastCall, 'principal'>,
): AuditedCall {
  return {
    action: 'ingestFile',
    actorKind: 'ingest',
    actorId: String(id),
    actorRole: null,
    objectType: 'ingest',
    objectId: String(id),
    requestId,
    network: clientNetwork(
      request.remoteAddress,
      request.headers['x-forwarded-for'],
      settings.TRUSTED_PROXIES,
    ),
  };
}
