/** The calls that a process serves at once are shared: a caller that fills its share leaves the rest to others. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { CallerShares } from '../../api/caller-shares.ts';
import { limits } from '../../domain/limits.ts';
import { ask, startTestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { ingestWorld } from './ingests/ingest-world.ts';

const bounds = { inAll: 3, perCaller: 2 };
const shares = new CallerShares({
  sessionEvents: bounds,
  claims: bounds,
  uploads: bounds,
  ingests: bounds,
  series: bounds,
  exports: bounds,
  reports: bounds,
});
const platform = await testEnvironment();
const world = await ingestWorld(platform);
const api = await startTestApi({ ...platform.environment, TRUSTED_PROXIES: '1' }, { shares });
const open = new Set<ClientRequest>();
afterAll(async () => {
  for (const one of open) one.destroy();
  await api.stop();
  await world.stop();
});

const { people } = world;
const { body: session } = await ask(world.api.url, 'POST', '/session', {
  token: people.Developer.token,
  json: { ProjectId: world.projectId, SessionTemplateId: world.templateId },
});
const { body: progress } = await ask(world.api.url, 'GET', `/api/v2/session/${session.id}/node-instances`, {
  token: people.Developer.token,
});
const anonymous = await world.newIngest({ allowAnonymous: true });
const { body: anotherDevice } = await ask(world.api.url, 'POST', '/api/v2/admin/offline-tokens', {
  token: people.adminToken,
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const address = (text: string) => ({ 'x-forwarded-for': text });
const claimOf = (instanceId: string) => JSON.stringify({ instanceId, waitSeconds: 30 });
let instances = 0;
/** Calls with a body that does not end. */
const halfAsked = (share: 'series' | 'exports', path: string) => ({
  share,
  path: `/api/v2/dashboard/dimensions/1/${path}`,
  method: 'POST',
  code: undefined,
  callers: [bearer(people.Trainee.token), bearer(people.offlineToken)],
  begin: (call: ClientRequest) => call.write('{"channels":'),
});

/** Three callers of a route; a call of theirs stays under way until it is destroyed. */
const routes = {
  'live events': {
    share: 'sessionEvents',
    path: `/api/v2/sessions/${session.id}/events`,
    method: 'GET',
    code: undefined,
    callers: [bearer(people.Trainee.token), bearer(people.Instructor.token), bearer(people.offlineToken)],
    begin: (call: ClientRequest) => call.end(),
  },
  'waiting claims': {
    share: 'claims',
    path: '/api/v2/runner/tasks/claim',
    method: 'POST',
    code: 'unavailable',
    callers: [people.Developer, people.Administrator].map(({ token }) => ({
      ...bearer(token),
      'content-type': 'application/json',
    })),
    begin(call: ClientRequest) {
      instances += 1;
      call.end(claimOf(`instance-${instances}`));
    },
  },
  uploads: {
    share: 'uploads',
    path: `/api/v2/node-instance/${progress.nodeInstances[0].id}/outputs/data`,
    method: 'POST',
    code: undefined,
    callers: [bearer(people.Trainee.token), bearer(people.offlineToken)],
    begin: (call: ClientRequest) => call.write('half of '),
  },
  'uploads to an ingest without an account': {
    share: 'ingests',
    path: `/ingest/${anonymous.urlPath}`,
    method: 'POST',
    code: undefined,
    callers: [address('192.0.2.1'), address('192.0.2.2')].map((from) => ({
      ...from,
      'content-type': 'text/csv',
    })),
    begin: (call: ClientRequest) => call.write('half of '),
  },
  'reads of series': halfAsked('series', 'series'),
  exports: halfAsked('exports', 'export'),
} as const;

/** Begins a call. `answer` comes with its head, for one that is under way perhaps never. */
function begin(route: (typeof routes)[keyof typeof routes], headers: Record<string, string>) {
  const { port } = api.server;
  const call = request({ port, host: '127.0.0.1', path: route.path, method: route.method, headers });
  open.add(call);
  call.on('error', () => undefined).once('close', () => open.delete(call));
  let answer: IncomingMessage | undefined;
  call.once('response', (response) => {
    answer = response.on('error', () => undefined);
  });
  route.begin(call);
  return { call, answer: () => answer };
}

test.for(Object.entries(routes))(
  'the share of one caller of %s leaves the rest to others',
  async ([, route]) => {
    const [greedy, ...others] = route.callers as readonly Record<string, string>[];
    const counted = (calls: number) =>
      eventually(`${calls} calls are under way`, () => shares.count(route.share) === calls);
    const refused = (caller: Record<string, string>) => {
      const { answer } = begin(route, caller);
      return eventually('an answer', answer);
    };

    const held = [begin(route, greedy!), begin(route, greedy!)];
    await counted(bounds.perCaller);
    const refusal = await refused(greedy!);
    expect(refusal.statusCode).toBe(503);
    expect(refusal.headers['retry-after']).toBe('5');
    const body = JSON.parse((await refusal.setEncoding('utf8').toArray()).join(''));
    expect(body).toEqual({
      status: 'error',
      ...(route.code === undefined ? {} : { code: route.code }),
      message: 'Service unavailable. Please try again later.',
    });
    // Another caller has room, until all of it is used.
    const other = begin(route, others[0]!);
    await counted(bounds.inAll);
    expect((await refused(others.at(-1)!)).statusCode).toBe(503);
    expect(shares.count(route.share)).toBe(bounds.inAll);

    // Ended calls are no longer counted.
    for (const { call } of held) call.destroy();
    await counted(1);
    const again = begin(route, greedy!);
    await counted(2);
    for (const { call } of [again, other]) call.destroy();
    await counted(0);
  },
);

describe('unfinished resumable uploads', () => {
  const tus = { 'tus-resumable': '1.0.0', 'upload-length': '4' };
  const begin = async (path: string, headers: Record<string, string>) =>
    (await fetch(api.url + path, { method: 'POST', headers: { ...tus, ...headers } })).status;
  test.for([
    [
      'an ingest without an account',
      `/api/v2/ingest-uploads/${anonymous.urlPath}`,
      address('192.0.2.1'),
      address('192.0.2.2'),
    ],
    [
      'devices of one Administrator',
      routes.uploads.path.replace('outputs/data', 'uploads'),
      bearer(people.offlineToken),
      bearer(anotherDevice.token),
    ],
  ] as const)('of one caller leave room to others: %s', async ([, path, greedy, other]) => {
    expect(await begin(path, greedy)).toBe(201);
    await world.database.query(
      `insert into resumable_upload (id, node_instance_id, ingest_id, user_id, counted_for, data_source_id, object_key,
                                     size_bytes, expires_at, sweep_at)
       select gen_random_uuid(), node_instance_id, ingest_id, user_id, counted_for, data_source_id,
              gen_random_uuid()::text, 1, 'infinity', 'infinity'
         from (select * from resumable_upload where expires_at < 'infinity' order by id desc limit 1) u,
              generate_series(2, $1)`,
      [limits.resumableUploadsPerCaller],
    );
    expect(await begin(path, greedy)).toBe(429);
    expect(await begin(path, other)).toBe(201);
    const stored = await world.database.query<{ text: string }>(
      'select u::text as text from resumable_upload u',
    );
    expect(stored.filter(({ text }) => text.includes('192.0.2'))).toEqual([]);
  });
});

test.for([
  ['downloads', 'GET', '/download?format=csv', undefined],
  ['previews', 'POST', '/preview', { columns: [] }],
] as const)(
  '%s of reports have a share too, as each is much work, and one caller leaves some to others',
  async ([, method, path, json]) => {
    const call = async (role: 'Developer' | 'Instructor') => {
      const { status, headers } = await ask(api.url, method, `/api/v2/dashboard/reports${path}`, {
        token: people[role].token,
        ...(json === undefined ? {} : { json }),
      });
      return [status, headers.get('retry-after')];
    };
    const refused = [503, '5'];
    const { userId } = people.Developer;
    const held = Array.from({ length: bounds.perCaller }, () =>
      shares.acquire('reports', `person ${userId}`),
    );
    expect(await call('Developer')).toEqual(refused);
    expect(await call('Instructor')).toEqual([200, null]);
    await eventually('its place is free', () => shares.count('reports') === bounds.perCaller);
    held.push(shares.acquire('reports', 'another'));
    expect(await call('Instructor')).toEqual(refused);
    for (const release of held) release();
    expect(await call('Developer')).toEqual([200, null]);
  },
);

describe('files for one session that wait for it', () => {
  const files = 20;
  const resumable = (urlPath: string, secret: string, text: string) =>
    fetch(`${world.api.url}/api/v2/ingest-uploads/${urlPath}`, {
      method: 'POST',
      body: Buffer.from(text),
      headers: {
        ...{ 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' },
        ...{ 'upload-length': `${text.length}`, 'upload-metadata': `contentType ${btoa('text/csv')}` },
        'x-ingest-secret': secret,
      },
    });
  test.for([
    [
      'whole',
      'select from pending_object',
      (urlPath: string, secret: string, body: string) => world.send(urlPath, { secret, body }),
    ],
    ['resumable', "select from resumable_upload where state in ('whole', 'stored')", resumable],
  ] as const)('leave database connections to other calls (%s, of an ingest)', async ([, arrived, send]) => {
    const project = await world.newProject();
    const fields = { projectId: project, creationBehaviour: 'LatestSession' };
    const { urlPath, secret } = await world.newIngest(fields);
    const { sessionId } = (await world.send(urlPath, { secret })).body;
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const { sent } = await world.database.transaction(async (tx) => {
      await tx.query('select from session where id = $1 for update', [sessionId]);
      const sent = Array.from({ length: files }, (_, at) => send(urlPath, secret, `a,b\n${at},2\n`));
      await eventually('all of them are stored', async () => (await tx.query(arrived)).length >= files);
      await eventually(
        'one waits for the session',
        async () => (await world.database.query(waiting)).length > 0,
      );
      for (let call = 0; call < 20; call += 1) {
        const read = await ask(world.api.url, 'GET', `/projects/${project}`, { token: people.Trainee.token });
        expect(read.status).toBe(200);
        expect((await world.database.query(waiting)).length).toBeLessThanOrEqual(2);
      }
      return { sent };
    });
    await Promise.all(sent);
  });
});
