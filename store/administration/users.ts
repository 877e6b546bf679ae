/** People as the platform knows them: an integer of its own beside the authentication service's GUID (decisions 4). */

import type { Queryable } from '../connection/database.ts';
import { unaudited } from './audit-scope.ts';

export interface UserRow {
  readonly id: number;
  readonly externalId: string;
  /** The name of the role when the person was last seen. */
  readonly type: string;
  readonly createdAt: Date;
}

const userColumns = 'id, external_id as "externalId", type, created_at as "createdAt"';

/** The person's row, made when the platform first sees them; `type` follows the present role. */
export async function ensureUser(
  database: Queryable,
  person: { readonly externalId: string; readonly type: string },
): Promise<UserRow> {
  const [known] = await database.query<UserRow>(
    `select ${userColumns} from platform_user where external_id = $1`,
    [person.externalId],
  );
  if (known !== undefined && known.type === person.type) return known;
  const [row] = await unaudited(() =>
    database.query<UserRow>(
      `insert into platform_user (external_id, type) values ($1, $2)
       on conflict (external_id) do update set type = excluded.type
       returning ${userColumns}`,
      [person.externalId, person.type],
    ),
  );
  return row!;
}

/** As {@link ensureUser} for many at once. */
export async function ensureUsers(
  database: Queryable,
  people: readonly { readonly externalId: string; readonly type: string }[],
): Promise<void> {
  if (people.length === 0) return;
  // In one order for everybody, so that two who do this at once do not wait for each other in a circle.
  await database.query(
    `insert into platform_user as u (external_id, type)
     select external_id, type from unnest($1::uuid[], $2::text[]) as p (external_id, type) order by external_id
     on conflict (external_id) do update set type = excluded.type where u.type <> excluded.type`,
    [people.map((person) => person.externalId), people.map((person) => person.type)],
  );
}

/** All people, by id. */
export async function listUsers(database: Queryable): Promise<UserRow[]> {
  return database.query<UserRow>(`select ${userColumns} from platform_user order by id`);
}
