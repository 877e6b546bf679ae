/** A sign-in for the owner of the machine: a user who can read the keys of the data folder needs no password. */
import { randomUUID } from 'node:crypto';
import { asUser, audit } from './audit.ts';
import { AuthDatabase, type Statement } from './database.ts';
import { issueToken } from './tokens.ts';

/** Long enough for a demonstration, also of a large file. */
const lifeMinutes = 60;

const administratorStatement: Statement = {
  name: 'local_administrator',
  text: `select id, username from auth.users
    where role = 'Administrator' and is_active and not force_change_password
    order by username_key <> 'admin', created_at, id limit 1`,
};
const shortenStatement: Statement = {
  name: 'local_token_shorten',
  text: `update auth.tokens set expires_at = clock_timestamp() + interval '${lifeMinutes} minutes' where id = $1`,
};

export interface LocalToken {
  readonly username: string;
  /** An access token of one hour. */
  readonly token: string;
}

/** Makes an access token of the first Administrator who may sign in, with its entry in the audit; null without one. */
export async function makeLocalToken(databaseUrl: string, tokenKey: string): Promise<LocalToken | null> {
  const database = new AuthDatabase(databaseUrl);
  try {
    return await database.transaction(async (tx) => {
      const [user] = await tx.query<{ id: string; username: string }>(administratorStatement, []);
      const issued = user && (await issueToken(tx, tokenKey, { kind: 'access', userId: user.id }));
      if (user === undefined || issued == null) return null;
      await tx.query(shortenStatement, [issued.id]);
      const origin = { requestId: randomUUID(), network: null };
      await audit(tx, 'signIn', asUser(user.id, 'Administrator'), { type: 'user', id: user.id }, origin);
      return { username: user.username, token: issued.value };
    });
  } finally {
    await database.close();
  }
}
