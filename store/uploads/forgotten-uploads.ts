/** Resumable uploads whose bytes are all stored and which are not finished: their process died, and no caller returned. */
import type { Queryable } from '../connection/database.ts';
import { type ResumableUpload, resumableUploadColumns } from './resumable-uploads.ts';

/**
 * Makes `writer` the writer of the one that waits longest, if there is one. An empty upload is whole before its first
 * piece. Those to frozen sessions wait until these are open again.
 * @param forgottenSeconds time without a write; longer than the interval at which a live writer renews
 */
export async function acquireForgottenUpload(
  database: Queryable,
  writer: string,
  forgottenSeconds: number,
): Promise<ResumableUpload | undefined> {
  const [row] = await database.query<ResumableUpload>(
    `with found as (
       select u.id from resumable_upload u
         left join node_instance n on n.id = u.node_instance_id left join session s on s.id = n.session_id
        where (u.state in ('whole', 'stored') or (u.state = 'open' and u.size_bytes = 0)) and s.frozen_at is null
          and u.expires_at > clock_timestamp()
          and coalesce(u.writer_seen_at, u.created_at) < clock_timestamp() - make_interval(secs => $2)
        order by coalesce(u.writer_seen_at, u.created_at) limit 1 for no key update of u skip locked)
     update resumable_upload u
        set writer = $1, writer_seen_at = clock_timestamp(), is_wanted = false
       from found where u.id = found.id returning ${resumableUploadColumns}`,
    [writer, forgottenSeconds],
  );
  return row;
}
