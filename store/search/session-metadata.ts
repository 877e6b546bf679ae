/** The metadata of the newest sessions. */
import { limits } from '../../domain/limits.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';

/** As shown, with identifiers, newest first. One statement for each filter, so that each is planned by its own index. */
export async function newestMetadata(database: Database, projectId?: number): Promise<JsonObject[]> {
  const rows = await database.queryUnprepared<{ metadata: JsonObject }>(
    `select metadata from (
       select c.metadata from session_search c ${projectId === undefined ? '' : 'where c.project_id = $1'}
        order by c.created_at desc, c.session_id desc limit ${limits.metadataKeySessions}) newest
      where metadata is not null`,
    projectId === undefined ? [] : [projectId],
  );
  return rows.map(({ metadata }) => metadata);
}
