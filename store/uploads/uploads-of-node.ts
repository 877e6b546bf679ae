/** Uploads to a node that are not published yet. */
import { isUploadedTo } from './resumable-uploads.ts';

/** Uploads of a process that died are not waited for longer than this. */
const uploadSilentFor = "interval '60 seconds'";

/** Whether an upload to a node `n` is queued or under way. */
export const hasUploads = `
  (exists (select 1 from queued_upload q where q.node_instance_id = n.id)
    or ${isUploadedTo('n.id', uploadSilentFor)})`;
