/** People as the platform knows them: an integer of its own beside the authentication service's GUID (decisions 4). */

import { unaudited } from '../connection/audit-scope.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { PlatformUser } from '../entities/platform-user.ts';

/** A row as read without an entity. */
export type PlatformUserRow = Pick<PlatformUser, 'id' | 'externalId' | 'type' | 'createdAt'>;

/** The person's row, made when the platform first sees them; `type` follows the present role. */
export async function ensureUser(
  database: Database,
  person: { readonly externalId: string; readonly type: string },
): Promise<PlatformUser> {
  const { externalId } = person;
  const known = await database.em.findOne(PlatformUser, { externalId });
  if (known?.type === person.type) return known;
  return unaudited(() => database.transaction(({ em }) => em.upsert(PlatformUser, person)));
}

/** As {@link ensureUser} for many at once. */
export async function ensureUsers(
  database: Queryable,
  people: readonly { readonly externalId: string; readonly type: string }[],
): Promise<void> {
  if (people.length === 0) return;
  // Rows that are right already are left out: a conflict would lock each, which writes it. The others are written in one
  // fixed order, so that two concurrent calls cannot deadlock.
  await database.query(
    `insert into platform_user as u (external_id, type)
     select p.external_id, p.type
       from unnest($1::uuid[], $2::text[]) as p (external_id, type)
       left join platform_user known on known.external_id = p.external_id
      where known.type is distinct from p.type
      order by p.external_id
     on conflict (external_id) do update set type = excluded.type where u.type <> excluded.type`,
    [people.map((person) => person.externalId), people.map((person) => person.type)],
  );
}

/** All people, by id. Rows, not entities: there may be thousands, and an entity costs several times its row. */
export async function listUsers(database: Queryable): Promise<PlatformUserRow[]> {
  return database.query('select id, external_id, type, created_at from platform_user order by id');
}
