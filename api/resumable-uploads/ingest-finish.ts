/** The call that brings the last byte of an upload to a managed ingest performs the ingest. */
import type { Ingest } from '../../store/entities/ingest.ts';
import { ingestWhole } from '../../store/ingests/finish-ingest-upload.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import type { Services } from '../services.ts';
import { publishToIngest } from '../uploads/commit-upload.ts';
import { assemble, type CompletingCall, endUpload } from './finish.ts';
import { uploadNow } from './handling.ts';
import type { UploadWriter } from './writers.ts';

/**
 * Makes or feeds a session with an upload whose bytes are all in the store, once. Safe to repeat from any point;
 * without a repeat a worker finishes it.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`, `uploadNotFound`, `uploadBusy`, `unavailable`; the bytes stay
 */
export async function finishIngest(
  services: Services,
  writer: UploadWriter,
  ingest: Ingest,
  call: CompletingCall,
): Promise<ResumableUpload> {
  const { id } = writer.upload;
  const found = await uploadNow(services, id);
  if (found.state === 'done') return found;
  const object = await assemble(services, found);
  const action = {
    action: 'ingestFile',
    actorKind: 'ingest',
    actorId: String(ingest.id),
    actorRole: null,
    objectType: 'ingest',
    objectId: String(ingest.id),
  } as const;
  const publish = () => ingestWhole(services, { id, writer: writer.id }, object, ingest);
  return await endUpload(services, id, call, action, () => publishToIngest(ingest, publish));
}
