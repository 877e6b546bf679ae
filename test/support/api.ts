/** A real listening API for a test file, and people of every role with real tokens. */
import { afterAll, expect } from 'vitest';
import { type ComposedApi, compose } from '../../api/compose.ts';
import { type StartOptions, startApi } from '../../api/start.ts';
import { AuthDatabase } from '../../auth/database.ts';
import { createUser } from '../../auth/users.ts';
import { type Role, roles } from '../../domain/access/access.ts';
import type { RunningServer } from '../../http/server/server.ts';
import { spawnAuth } from './processes.ts';
import { type TestEnvironment, testEnvironment } from './stack.ts';
import { fastHash } from './template.ts';

export type TestApi = {
  readonly url: string;
  readonly composed: ComposedApi;
  readonly server: RunningServer;
  stop(): Promise<void>;
};

/**
 * With `TEST_SEPARATE_AUTH=true` every test API works with an authentication service in a separate process, reached
 * over HTTP, as an installation with `AUTH_URL` does (`npm run test:separate-auth`).
 */
const isAuthSeparate = () => process.env.TEST_SEPARATE_AUTH === 'true';
/** Settings that the platform does not have when the authentication service is separate. */
const authOnlyVariables = ['TOKEN_KEY'];

/** Starts the API on a free port with strict response checks. Call `stop` in `afterAll`. */
export async function startTestApi(
  environment: Readonly<Record<string, string>>,
  options: Pick<StartOptions, 'routes' | 'shares'> = {},
): Promise<TestApi> {
  const auth =
    isAuthSeparate() && environment.AUTH_URL === undefined ? await spawnAuth(environment) : undefined;
  const known = Object.entries(environment).filter(
    ([name]) => auth === undefined || !authOnlyVariables.includes(name),
  );
  const composed = await compose({
    ...Object.fromEntries(known),
    ...(auth === undefined ? {} : { AUTH_URL: auth.url }),
    PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    RESPONSE_CHECKS: 'strict',
  });
  const server = await startApi({ ...composed, ...options });
  return {
    url: server.url,
    composed,
    server,
    async stop() {
      await server.stop(5);
      await composed.close();
      auth?.kill('SIGTERM');
      await auth?.ended;
    },
  };
}

/**
 * The API of a whole test file. Call it once at the top of the file: it stops after the file's last test.
 * @param settings `variables` beside those of the environment, and which routes it has
 */
export async function startedApi({ variables, ...options }: StageSettings = {}) {
  const platform = await testEnvironment();
  const api = await startTestApi({ ...platform.environment, ...variables }, options);
  afterAll(() => api.stop());
  return { platform, api };
}

/** As {@link startedApi}, with people of every role. */
export async function apiStage(settings: StageSettings = {}) {
  const { platform, api } = await startedApi(settings);
  const people = await makePeople(api.url, platform);
  /** A call of a Developer, or with the token. */
  const call = (method: string, path: string, json?: unknown, token = people.Developer.token) =>
    ask(api.url, method, path, { token, json });
  return { platform, api, people, call };
}

type StageSettings = Pick<StartOptions, 'routes' | 'shares'> & {
  readonly variables?: Readonly<Record<string, string>>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sends.
  readonly body: any;
};

/** One request; objects are sent as JSON. The body comes back parsed when it is JSON, else as text. */
export async function ask(
  url: string,
  method: string,
  path: string,
  options: {
    readonly token?: string;
    readonly json?: unknown;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.json === undefined ? {} : { body: JSON.stringify(options.json) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

/** Asks again while the answer is 503, as callers do: on a busy machine a lock takes longer than a call waits for it. */
export async function untilServed(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await request();
    if (answer.status !== 503) return answer;
    expect(answer.headers.get('retry-after')).toBe('1');
    expect([
      'Another request for the same session is in progress.',
      'Service unavailable. Please try again later.',
    ]).toContain(answer.body.message);
  }
}

/** Signs in; throws when that is refused. */
export async function tokenOf(url: string, username: string, password: string): Promise<string> {
  const answer = await ask(url, 'POST', '/api/authorization/token', { json: { username, password } });
  if (answer.status !== 200) throw new Error(`sign-in of ${username}: ${answer.status}`);
  return answer.body.accessToken;
}

export type TestPerson = {
  readonly userId: string;
  readonly username: string;
  readonly password: string;
  readonly email: string;
  readonly token: string;
};
export type People = Readonly<Record<Role, TestPerson>> & {
  /** An offline token of the first Administrator. */
  readonly offlineToken: string;
  /** The first Administrator's access token. */
  readonly adminToken: string;
};

/** Makes one user of each role, and an offline token. */
export async function makePeople(
  url: string,
  { databaseUrl, administrator }: Pick<TestEnvironment, 'databaseUrl' | 'administrator'>,
): Promise<People> {
  const adminToken = await tokenOf(url, administrator.username, administrator.password);
  const people: Partial<Record<Role, TestPerson>> = {};
  const accounts = new AuthDatabase(databaseUrl);
  try {
    for (const role of roles) people[role] = await makeAccount(accounts, url, role);
  } finally {
    await accounts.close();
  }
  const offline = await ask(url, 'POST', '/api/authorization/offline_token', { token: adminToken });
  return { ...(people as Record<Role, TestPerson>), offlineToken: offline.body.token, adminToken };
}

let made = 0;
function nextPerson(role: Role) {
  made += 1;
  const username = `${role.toLowerCase()}-${made}`;
  const names = { firstName: role, lastName: `No ${made}` };
  return { ...names, username, email: `${username}@example.org`, password: `password of ${username}` };
}

/** A user who is stored as the service stores them, but for a password that is checked fast. */
async function makeAccount(accounts: AuthDatabase, url: string, role: Role): Promise<TestPerson> {
  const { password, ...named } = nextPerson(role);
  const state = { isActive: true, isRegistrationComplete: true, hasAcceptedDataPrivacy: false };
  const user = { ...named, ...state, role, title: '', company: '', forceChangePassword: false };
  const { id } = await createUser(accounts, user, fastHash(password));
  const token = await tokenOf(url, named.username, password);
  return { userId: id, username: named.username, password, email: named.email, token };
}

/** Makes one user through the interface and signs in. */
export async function makePerson(
  url: string,
  adminToken: string,
  role: Role,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<TestPerson> {
  const person = nextPerson(role);
  const { username, password, email } = person;
  const answer = await ask(url, 'POST', '/api/authorization/users', {
    token: adminToken,
    json: { ...person, role, ...fields },
  });
  if (answer.status !== 201) throw new Error(`user ${username}: ${answer.status}`);
  const token = await tokenOf(url, username, password);
  return { userId: answer.body.userId, username, password, email, token };
}
