import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { apiStage, ask, makePerson } from '../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';

const { api, people, platform } = await apiStage({ variables: { TRUSTED_PROXIES: '1' } });
const admin = '/api/v2/admin';
const audit = `${admin}/audit`;
const proxied = { 'x-forwarded-for': '198.51.100.77' };
let tables: pg.Client;

beforeAll(async () => {
  const { database, objects } = api.composed.services;
  await ship(database);
  await ensurePlatformDataSource(database, objects.platformAccess);
  tables = new pg.Client(platform.databaseUrl);
  await tables.connect();
});
afterAll(() => tables.end());

async function write(method: string, path: string, json?: unknown, token = people.Administrator.token) {
  const answer = await ask(api.url, method, path, {
    token,
    headers: proxied,
    json,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

async function entriesOf(query: string, path = audit) {
  const answer = await ask(api.url, 'GET', `${path}?${query}`, { token: people.adminToken });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.entries;
}

let names = 0;
async function newTemplate(): Promise<number> {
  names += 1;
  const file = templateFile(`Audited ${names}`, [inputNode('laps'), tabularNode('table', 'laps')]);
  return (await write('POST', `${admin}/session-templates`, file)).body.id;
}

/** Whether the last entry of this kind and the row were committed by one transaction. */
async function isOneTransaction(action: string, table: string, where: string): Promise<boolean> {
  const { rows } = await tables.query(
    `select e.xmin::text = (select t.xmin::text from ${table} t where ${where}) as one
       from audit_entry e where e.action = $1 order by e.at desc, e.id desc limit 1`,
    [action],
  );
  return rows[0]?.one;
}

describe('the audit of the platform', () => {
  test('gets one entry for each write, committed together with it: who, what, when, from which network', async () => {
    const templateId = await newTemplate();
    expect(await isOneTransaction('importSessionTemplate', 'session_template', `t.id = ${templateId}`)).toBe(
      true,
    );
    const project = (await write('POST', '/projects', { Title: 'Audited' })).body;
    expect(await isOneTransaction('createProject', 'project', `t.id = ${project.id}`)).toBe(true);
    const made = await write('POST', '/session', {
      SessionTemplateId: templateId,
      ProjectId: project.id,
    });
    const sessionId = made.body.id;
    expect(await isOneTransaction('createSession', 'session', `t.id = '${sessionId}'`)).toBe(true);
    const ingest = (
      await write('POST', `${admin}/ingests`, {
        urlPath: 'audited',
        projectId: project.id,
        sessionTemplateId: templateId,
        inputNode: 'laps',
      })
    ).body;
    expect(await isOneTransaction('createIngest', 'ingest', `t.id = ${ingest.id}`)).toBe(true);
    // A single statement without a transaction.
    await write('POST', `${admin}/ingests/${ingest.id}/rotate-secret`);
    expect(await isOneTransaction('rotateIngestSecret', 'ingest', `t.id = ${ingest.id}`)).toBe(true);
    const { rows } = await tables.query('select id from node_instance where session_id = $1 and name = $2', [
      sessionId,
      'laps',
    ]);
    const nodeId = Number(rows[0].id);
    const before = Date.now();
    const uploaded = await fetch(`${api.url}/api/v2/node-instance/${nodeId}/outputs/data`, {
      method: 'POST',
      headers: {
        ...proxied,
        authorization: `Bearer ${people.Trainee.token}`,
        'content-type': 'text/csv',
        'x-request-id': 'upload-1',
      },
      body: 'a\n1\n',
    });
    expect(uploaded.status).toBe(201);
    expect(await isOneTransaction('uploadNodeOutput', 'node_output', `t.node_instance_id = ${nodeId}`)).toBe(
      true,
    );
    const [upload, session, ...rest] = await entriesOf(`sessionId=${sessionId}`);
    expect(rest).toEqual([]);
    expect(upload).toEqual({
      id: expect.any(Number),
      at: expect.any(String),
      action: 'uploadNodeOutput',
      actor: { kind: 'user', id: people.Trainee.userId, role: 'Trainee' },
      object: { type: 'nodeInstance', id: String(nodeId) },
      sessionId,
      requestId: 'upload-1',
      network: '198.51.100.0/24',
    });
    expect(Math.abs(Date.parse(upload.at) - before)).toBeLessThan(60_000);
    expect(session).toMatchObject({ action: 'createSession', object: { type: 'session', id: sessionId } });
    // A device, and a caller of an ingest.
    await write('PUT', `/projects/${project.id}`, { Title: 'Audited again' }, people.offlineToken);
    const [update] = await entriesOf(`objectType=project&objectId=${project.id}`);
    expect(update.actor.kind).toBe('device');
    const secret = (await write('POST', `${admin}/ingests/${ingest.id}/rotate-secret`)).body.secret;
    const fed = await fetch(`${api.url}/ingest/audited`, {
      method: 'POST',
      headers: { 'x-ingest-secret': secret, 'content-type': 'text/csv' },
      body: 'a\n1\n',
    });
    expect(fed.status).toBe(201);
    const { sessionId: fedSession } = (await fed.json()) as { sessionId: string };
    expect((await entriesOf(`sessionId=${fedSession}`)).map((entry: object) => entry)).toMatchObject([
      {
        action: 'ingestFile',
        actor: { kind: 'ingest', id: String(ingest.id) },
        object: { type: 'ingest', id: String(ingest.id) },
      },
    ]);
  });

  test('records each of many callers who open and join one shared session, in the same transaction', async () => {
    const templateId = await newTemplate();
    const { id: ProjectId } = (await write('POST', '/projects', { Title: 'Shared' })).body;
    const request = {
      name: 'Exercise',
      simulationName: 'flight',
      sessionTemplateId: templateId,
      machineGroup: 1,
      timeWindowSeconds: 3600,
      startTimeUtc: new Date().toISOString(),
      email: people.Trainee.email,
    };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        ask(api.url, 'POST', `/api/v2/session/shared_session?projectId=${ProjectId}`, {
          token: people.Trainee.token,
          json: request,
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status < 300)), JSON.stringify(answers[0]?.body)).toEqual(
      new Set([true]),
    );
    const sessionId = answers[0]!.body.id;
    const entries = await entriesOf(`sessionId=${sessionId}&action=joinSharedSession`);
    expect(entries).toHaveLength(6);
    expect(new Set(entries.map((entry: { requestId: string }) => entry.requestId)).size).toBe(6);
  });

  test('gets no entry for a refused write, and one for an acknowledged write without a change', async () => {
    const count = async () => Number((await tables.query('select count(*) from audit_entry')).rows[0].count);
    const templateId = await newTemplate();
    const { id: ProjectId } = (await write('POST', '/projects', { Title: 'Refusals' })).body;
    const { id } = (await write('POST', '/session', { SessionTemplateId: templateId, ProjectId })).body;
    await write('POST', `/api/v2/sessions/${id}/freeze`);
    const before = await count();
    const token = people.Administrator.token;
    const { rows } = await tables.query('select id from node_instance where session_id = $1', [id]);
    const join = {
      name: 'Refused',
      simulationName: 'flight',
      sessionTemplateId: templateId,
      machineGroup: 1,
      timeWindowSeconds: 3600,
      startTimeUtc: new Date().toISOString(),
      email: people.Trainee.email,
    };
    for (const [method, path, json] of [
      ['POST', '/projects', { Title: '' }],
      ['POST', `${admin}/ingests`, { urlPath: 'x', projectId: 1e9, sessionTemplateId: 1, inputNode: 'x' }],
      ['DELETE', '/api/v2/sessions/00000000-0000-4000-8000-000000000000', undefined],
      ['POST', `/api/v2/node-instance/${rows[0].id}/reprocess`, undefined],
      ['POST', `/api/v2/node-instance/${rows[0].id}/outputs/data`, undefined],
      ['POST', '/api/v2/session/shared_session?projectId=1000000000', join],
      ['POST', `/api/v2/session/shared_session?projectId=${ProjectId}`, { ...join, sessionTemplateId: 1e9 }],
    ] as const) {
      const answer = await ask(api.url, method, path, { token, json });
      expect(answer.status, `${method} ${path}`).toBeGreaterThanOrEqual(400);
    }
    expect(await count()).toBe(before);
    await write('POST', `/api/v2/sessions/${id}/freeze`);
    expect(await entriesOf(`sessionId=${id}&action=freezeSession`)).toHaveLength(2);
  });

  test('keeps its entries when the session is deleted, and no entry can be changed or removed', async () => {
    const templateId = await newTemplate();
    const { id: ProjectId } = (await write('POST', '/projects', { Title: 'Kept' })).body;
    const made = await write('POST', '/session', { SessionTemplateId: templateId, ProjectId });
    const sessionId = made.body.id;
    await write('DELETE', `/api/v2/sessions/${sessionId}`);
    const actions = (await entriesOf(`sessionId=${sessionId}`)).map(
      (entry: { action: string }) => entry.action,
    );
    expect(actions).toEqual(['deleteSession', 'createSession']);
    for (const table of ['audit_entry', 'auth.audit_entry']) {
      for (const statement of [
        `update ${table} set action = 'x'`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        await expect(tables.query(statement), statement).rejects.toMatchObject({ code: '42501' });
      }
    }
  });

  test('is read page by page without gaps or repeats, only by Administrators', async () => {
    const all = await entriesOf('limit=500');
    expect(all.length).toBeGreaterThan(5);
    const paged = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `${audit}?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body } = await ask(api.url, 'GET', path, { token: people.adminToken });
      paged.push(...body.entries);
      cursor = body.nextCursor;
    }
    expect(paged).toEqual(all);
    const [newest] = all;
    const filtered = await entriesOf(
      `from=${newest.at}&action=${newest.action}&actorId=${newest.actor.id}&limit=1`,
    );
    expect(filtered[0]).toEqual(newest);
    expect(await entriesOf(`to=2020-01-01T00:00:00Z`)).toEqual([]);
    const reversed = 'from=2026-02-02&to=2026-02-01';
    for (const query of ['cursor=1', 'limit=0', 'limit=501', 'objectType=cat', 'from=yesterday', reversed]) {
      const { status } = await ask(api.url, 'GET', `${audit}?${query}`, { token: people.adminToken });
      expect(status, query).toBe(400);
    }
    const developer = await ask(api.url, 'GET', audit, { token: people.Developer.token });
    expect(developer.status).toBe(403);
  });
});

describe('the audit of the authentication service', () => {
  test('records accounts, passwords, tokens and refused sign-ins', async () => {
    const path = '/api/authorization/audit';
    const person = await makePerson(api.url, people.adminToken, 'Instructor');
    const call = (method: string, at: string, json?: unknown, token = people.adminToken) =>
      ask(api.url, method, `/api/authorization${at}`, { token, json });
    const { username, password } = person;
    expect((await call('POST', '/token', { username, password: 'not the password' })).status).toBe(401);
    const signedIn = await call('POST', '/token', { username, password, rememberMe: true });
    const refreshToken = signedIn.body.refreshToken;
    expect((await call('POST', '/refresh', { refreshToken })).status).toBe(200);
    expect((await call('POST', '/refresh', { refreshToken })).status).toBe(401);
    const users = `/users/${person.userId}`;
    await call('PATCH', users, { title: 'Captain' });
    await call('POST', `${users}/password`, { newPassword: 'a longer sentence than before' });
    await call('POST', '/revoke', { username });
    await call('DELETE', users);
    const entries = await entriesOf(`objectType=user&objectId=${person.userId}`, path);
    expect(entries.map((entry: { action: string }) => entry.action)).toEqual([
      'deleteUser',
      'revokeTokens',
      'changePassword',
      'updateUser',
      'refreshTokenReused',
      'refreshToken',
      'signIn',
      'signInRefused',
      'signIn',
      'createUser',
    ]);
    const byAction = (action: string) =>
      entries.find((entry: { action: string }) => entry.action === action).actor;
    expect(byAction('signIn')).toEqual({ kind: 'user', id: person.userId, role: 'Instructor' });
    expect(byAction('signInRefused')).toEqual({ kind: 'user', id: null, role: null });
    expect(byAction('deleteUser')).toMatchObject({ kind: 'user', role: 'Administrator' });
    const offline = await call('POST', '/offline_token');
    expect(offline.status).toBe(200);
    expect((await entriesOf('action=createOfflineToken', path))[0].object.id).toMatch(/^[0-9a-f-]{36}$/);
    const trainee = await ask(api.url, 'GET', path, { token: people.Trainee.token });
    expect(trainee.status).toBe(403);
  });
});
