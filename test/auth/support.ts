/** An authentication service behind a listening API, people with tokens of every kind, and the service's tables. */
import pg from 'pg';
import { afterAll } from 'vitest';
import type { Role } from '../../domain/access/access.ts';
import {
  ask,
  makePeople,
  makePerson,
  type People,
  startTestApi,
  type TestApi,
  type TestPerson,
} from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type TestEnvironment, testEnvironment } from '../support/stack.ts';

export interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface AuthWorld {
  readonly platform: TestEnvironment;
  readonly api: TestApi;
  readonly people: People;
  /** A connection of the test's own. */
  readonly database: pg.Client;
  /** A call below `/api/authorization`. */
  auth(method: string, path: string, options?: Parameters<typeof ask>[3]): ReturnType<typeof ask>;
  newPerson(role?: Role, fields?: object): Promise<TestPerson>;
  /** A sign-in that is remembered. */
  remember(person: { readonly username: string; readonly password: string }): Promise<SignedIn>;
  refresh(refreshToken: string): ReturnType<typeof ask>;
  /** Whether the platform accepts this access or offline token. */
  isAccepted(token: string): Promise<boolean>;
  /** Waits until so many statements of the service wait for locks. */
  waiting(count: number): Promise<unknown>;
}

/** Call it once at the top of a file; all of it ends after the file's last test. */
export async function authWorld(variables: Readonly<Record<string, string>> = {}): Promise<AuthWorld> {
  const platform = await testEnvironment();
  const api = await startTestApi({ ...platform.environment, ...variables });
  const database = new pg.Client(platform.databaseUrl);
  // A transaction sees pg_stat_activity as of its first read, so another connection reads it.
  const watcher = new pg.Client(platform.databaseUrl);
  await Promise.all([database.connect(), watcher.connect()]);
  afterAll(async () => {
    await Promise.all([database.end(), watcher.end()]);
    await api.stop();
  });
  const people = await makePeople(api.url, platform);
  const auth: AuthWorld['auth'] = (method, path, options = {}) =>
    ask(api.url, method, `/api/authorization${path}`, options);
  return {
    platform,
    api,
    people,
    database,
    auth,
    newPerson: (role = 'Developer', fields = {}) =>
      makePerson(api.url, people.adminToken, role, fields as Record<string, unknown>),
    async remember({ username, password }) {
      const answer = await auth('POST', '/token', { json: { username, password, rememberMe: true } });
      if (answer.status !== 200) throw new Error(`sign-in of ${username}: ${answer.status}`);
      return answer.body;
    },
    refresh: (refreshToken) => auth('POST', '/refresh', { json: { refreshToken } }),
    isAccepted: async (token) => (await ask(api.url, 'GET', '/user_data', { token })).status === 200,
    waiting: (count) =>
      eventually(`${count} statements wait`, async () => {
        const { rows } = await watcher.query(
          `select count(*)::int as count from pg_stat_activity where datname = current_database()
             and application_name = 'authentication' and wait_event_type = 'Lock'`,
        );
        return rows[0].count >= count;
      }),
  };
}
