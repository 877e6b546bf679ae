import { randomBytes, randomUUID } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatToken } from '../../domain/access/token-format.ts';
import { s3Client } from '../support/bucket.ts';
import { eventually } from '../support/eventually.ts';
import { allRoutes } from '../support/openapi.ts';
import { type ApiProcess, type TestProcess, testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';
import { type Canary, CanaryBook, type Place, searchFor, type Trace } from './canaries.ts';
import { type Call, Driver } from './driver.ts';
import { refuseWrites, revokeWrites } from './failing-database.ts';
import { wrongFormsOf } from './hostile.ts';
import { descriptionOf, historiesOf, objectsOf, tablesOf } from './places.ts';
import { auth, newSomebody, openScenario, type Scenario } from './scenario.ts';
import { driveContent } from './steps/content.ts';
import { drivePeople } from './steps/people.ts';
import { driveRest } from './steps/rest.ts';
import { driveRunners } from './steps/runners.ts';
import { driveSessions } from './steps/sessions.ts';

const platform = await testEnvironment();
const { operator } = await testWorkflows(platform.environment);
const processes = testProcesses(platform.environment);
const book = new CanaryBook();
/** Texts that are read during the scenario, because they are gone at its end. */
const seen: Place[] = [];
let database: pg.Client;
let running: Readonly<Record<string, TestProcess>>;
let service: ApiProcess;
let separate: ApiProcess;
let inside: ApiProcess;
let drive: Driver;
let scenario: Scenario;

beforeAll(async () => {
  const all = { keepsWholeLog: true, variables: { LOG_LEVEL: 'debug' } };
  const behind = async () => {
    service = await processes.startAuth(all);
    const variables = { ...all.variables, AUTH_URL: service.url, TOKEN_KEY: '' };
    return processes.startApi({ ...all, variables });
  };
  const [api, other, worker, builtin] = await Promise.all([
    behind(),
    processes.startApi(all),
    processes.startWorker('workflows', all),
    processes.startWorker('builtin', all),
  ]);
  [separate, inside] = [api, other];
  running = {
    'the authentication service': service,
    'the API with a separate authentication service': separate,
    'the API with authentication inside': inside,
    'the worker': worker,
    'the worker of the built-in nodes': builtin,
  };
  database = new pg.Client(platform.databaseUrl);
  await database.connect();
  let calls = 0;
  drive = new Driver(book, () => {
    calls += 1;
    return calls % 2 === 0 ? inside.url : separate.url;
  });
  scenario = await openScenario(drive, platform);
});
afterAll(() => database.end());

test('the scenario drives every route to a good end', async () => {
  await Promise.all([
    driveContent(scenario),
    driveSessions(scenario).then(() => drivePeople(scenario)),
    driveRunners(scenario, async (sessionId) => {
      // The holder of a task is shown in the workflow engine after a second.
      const look = async () => {
        const description = await descriptionOf(operator, `session-${sessionId}`);
        return description.text.includes('runner-') && description;
      };
      const shown = await eventually('the holder is shown', look);
      seen.push(shown);
    }),
  ]);
  await driveRest(scenario);
  expect(drive.undriven, 'add them to a step of test/privacy/steps').toEqual([]);
});

/** Several at a time; their replies. */
async function sendAll(calls: readonly Call[]): Promise<{ call: Call; status: number; text: string }[]> {
  const replies: { call: Call; status: number; text: string }[] = [];
  const next = calls.values();
  const work = async () => {
    for (const call of next) {
      const { status, text } = await drive.send(call);
      replies.push({ call, status, text });
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return replies;
}

/** Every good call as an Administrator, because the tokens of the scenario have ended in it. */
async function callsOfOperator(): Promise<{ token: string; good: Call[] }> {
  const name = `operator ${randomUUID()}`;
  const { token } = await newSomebody(drive, scenario.people.Administrator.token, 'Administrator', name);
  const good = [...drive.recorded.values()].map(({ method, path, bytes, headers, json, token: had }) => ({
    method,
    path,
    ...(bytes === undefined ? {} : { bytes }),
    ...(headers === undefined ? {} : { headers }),
    ...(json === undefined ? {} : { json }),
    ...(had === undefined ? {} : { token }),
  }));
  return { token, good };
}

test('every call in wrong forms is refused or does what it should, and fails nowhere inside', async () => {
  const { token } = await callsOfOperator();
  const hostile = {
    address: book.address('in a wrong place'),
    token: book.token(formatToken('offline', randomBytes(32)), 'in a wrong place'),
    password: book.password('in a wrong place'),
  };
  const calls = [...drive.recorded.values()].flatMap((call) => wrongFormsOf(call, token, hostile));
  expect(calls.length).toBeGreaterThan(allRoutes.length * 8);
  const replies = await sendAll(calls);
  const failed = replies.filter(({ status }) => status >= 500 && status !== 503);
  expect(failed).toEqual([]);
});

test('while the database refuses every row, and says which, calls fail without repeating it', async () => {
  const { token, good } = await callsOfOperator();
  const newcomers: Call[] = ['one', 'two'].map((name) => ({
    method: 'POST',
    path: `${auth}/users`,
    token,
    json: {
      username: `refused ${name}`,
      password: book.password(`refused ${name}`).value,
      email: book.address(`refused ${name}`).value,
      role: 'Trainee',
    },
  }));
  await refuseWrites(database);
  const replies = await sendAll([...good.filter(({ method }) => method !== 'GET'), ...newcomers]).finally(
    () => revokeWrites(database),
  );
  expect(replies.filter(({ status }) => status === 500).length).toBeGreaterThan(10);
});

test('while the authentication service is gone, calls are refused', async () => {
  const { good } = await callsOfOperator();
  service.kill('SIGKILL');
  await service.ended;
  const replies = await sendAll(good);
  expect(replies.filter(({ status }) => status === 503).length).toBeGreaterThan(20);
});

/** Everything that was stored, and every answer that must hold no secret. */
async function everything(): Promise<Place[]> {
  const places = [
    ...(await tablesOf(database)),
    ...(await objectsOf(platform)),
    ...(await historiesOf(operator, platform.taskQueue)),
  ];
  // A reply's line is written after the reply; when this last line is there, all before it are.
  const mark = `mark-${randomUUID()}`;
  for (const api of [separate, inside]) {
    await fetch(`${api.url}/api/v2/health`, { headers: { 'x-request-id': mark } });
    await eventually('the log is whole', () => api.log().includes(mark));
  }
  const logs = Object.entries(running).map(([where, { log }]) => ({ where: `log of ${where}`, text: log() }));
  return [...places, ...logs, ...seen, ...drive.sentOut];
}

/** Tokens and passwords anywhere; addresses anywhere but in the authentication service's own tables. */
function tracesIn(places: readonly Place[]): Trace[] {
  const addresses = book.all.filter(({ kind }) => kind === 'address');
  const secrets = book.all.filter(({ kind }) => kind !== 'address');
  const outside = places.filter(({ where }) => !where.startsWith('table auth.'));
  return [...searchFor(secrets, places), ...searchFor(addresses, outside)];
}

describe('what the platform writes down', () => {
  test('holds no address, token or password, but for the addresses of accounts in the authentication service', async () => {
    const places = await everything();
    for (const kind of [
      'table public.',
      'table auth.',
      'object ',
      'workflow session-',
      'workflow window-',
      'workflow ingest-',
      'reply 4',
      'reply 500',
      'reply 503',
      'reply 200',
    ])
      expect([kind, places.some(({ where }) => where.startsWith(kind))]).toEqual([kind, true]);
    for (const { where, text } of places.filter((place) => place.where.startsWith('log of the API')))
      expect([where, text.length > 100_000]).toEqual([where, true]);
    // Secrets that reached a line were removed from it: request ids that were tokens, rows that were refused.
    expect(inside.log()).toContain('[token]');
    expect(inside.log()).toContain('[address]');
    expect(book.all.filter(({ kind }) => kind === 'token').length).toBeGreaterThan(20);
    expect(tracesIn(places)).toEqual([]);
    // The addresses are where they belong, so the search would find them.
    expect(
      searchFor(
        book.all,
        places.filter(({ where }) => where === 'table auth.users'),
      ).length,
    ).toBeGreaterThan(5);
  });

  test('would show one: in a table, an object, a history, a log and a reply', async () => {
    const [address, token, password] = [
      book.address('leaked'),
      book.token(formatToken('access', randomBytes(32)), 'leaked'),
      book.password('leaked'),
    ];
    await leak(address, token, password);
    const traces = tracesIn(await everything()).filter(({ canary }) => canary.endsWith('leaked'));
    const places = [
      ...new Set(traces.map(({ where, canary }) => `${where.replace(/ .*/, '')}: ${canary}`)),
    ].sort();
    expect(places).toEqual([
      'log: password: leaked',
      'object: token: leaked',
      'reply: token: leaked',
      'table: address: leaked',
      'workflow: address: leaked',
      'workflow: password: leaked',
    ]);
  });
});

/** Puts canaries where none may be, in encoded forms. */
async function leak(address: Canary, token: Canary, password: Canary): Promise<void> {
  await database.query('create schema scratch');
  await database.query('create table scratch.notes (note bytea)');
  await database.query('insert into scratch.notes values ($1)', [Buffer.from(address.value.toUpperCase())]);
  const client = s3Client(platform.environment);
  const object = {
    Bucket: platform.s3.bucket,
    Key: 'scratch',
    Body: 'nothing',
    Metadata: { note: token.value },
  };
  await client.send(new PutObjectCommand(object));
  client.destroy();
  const handle = await operator.workflow.start('nobody', {
    workflowId: `scratch-${randomUUID()}`,
    taskQueue: platform.taskQueue,
    args: [Buffer.from(address.value).toString('base64')],
    memo: { note: encodeURIComponent(password.value) },
  });
  await handle.terminate();
  await drive.send({
    method: 'GET',
    path: '/health_check',
    headers: { 'x-request-id': `x.${password.cores[0]}` },
  });
  drive.sentOut.push({ where: 'reply of nobody', text: JSON.stringify({ token: token.value }) });
}
