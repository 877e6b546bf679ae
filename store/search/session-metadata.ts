/** The metadata of the newest sessions. */
import { limits } from '../../domain/limits.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';

/**
 * As shown, with identifiers, newest first. One statement for each filter, so that each is planned by its own index. All
 * are held as texts, and each is parsed when it is its turn: the objects of thousands of names take many times the room.
 */
export async function newestMetadata(database: Database, projectId?: number): Promise<Iterable<JsonObject>> {
  const rows = await database.queryUnprepared<{ metadata: string }>(
    `select metadata::text from (
       select c.metadata from session_search c ${projectId === undefined ? '' : 'where c.project_id = $1'}
        order by c.created_at desc, c.session_id desc limit ${limits.metadataKeySessions}) newest
      where metadata is not null`,
    projectId === undefined ? [] : [projectId],
  );
  return {
    *[Symbol.iterator]() {
      for (const { metadata } of rows) yield JSON.parse(metadata) as JsonObject;
    },
  };
}
