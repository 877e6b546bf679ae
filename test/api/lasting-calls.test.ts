/** Calls of people and devices whose right ends while they last; those with runner tokens are in test/api/runner-tokens. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ask, makePerson, type TestPerson, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { mebibyte, tusWorld } from './resumable-uploads/support.ts';

const world = await tusWorld();
const { api, database, makeNode, send, upload, piece, outputsOf } = world;
const auth = '/api/authorization';
const offlineTokens = '/api/authorization/offline_token';
const admin = { token: world.token };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const change = ({ userId }: TestPerson, json: object) =>
  ask(api.url, 'PATCH', `${auth}/users/${userId}`, { ...admin, json });
const revoke = ({ username }: TestPerson) =>
  ask(api.url, 'POST', `${auth}/revoke`, { ...admin, json: { username } });
const deactivate = (person: TestPerson) => change(person, { isActive: false });
const pending = async () => (await database.query('select 1 from pending_object')).length;

/** Bytes that come slowly, and do not end. */
function drip(): PassThrough {
  const bytes = new PassThrough();
  const timer = setInterval(() => bytes.write('x'.repeat(2048)), 50);
  bytes.once('close', () => clearInterval(timer));
  return bytes;
}

describe('an upload that comes slowly', () => {
  test.each([
    ['is revoked', revoke],
    ['is signed out', ({ token }: TestPerson) => ask(api.url, 'POST', `${auth}/logout`, { token })],
    ['is deactivated with its person', deactivate],
    [
      'is deleted with its person',
      ({ userId }: TestPerson) => ask(api.url, 'DELETE', `${auth}/users/${userId}`, admin),
    ],
    [
      'expires',
      async ({ userId }: TestPerson) => {
        const sql = `update auth.tokens set expires_at = clock_timestamp() where user_id = $1`;
        await database.query(sql, [userId]);
        return { status: 200 };
      },
    ],
  ])('is refused with 401 once its sign-in %s, and nothing of it is published or kept', async (_, end) => {
    const { nodeId } = await makeNode();
    const person = await makePerson(api.url, world.token, 'Developer');
    const bytes = drip();
    const answer = upload(nodeId, bytes, bearer(person.token));
    await eventually('it is under way', async () => (await pending()) === 1);
    expect((await end(person)).status).toBeLessThan(300);
    expect((await answer).status).toBe(401);
    bytes.destroy();
    await eventually('nothing is left', async () => (await pending()) === 0);
    expect(await outputsOf(nodeId)).toEqual([]);
  });

  test('is not published either where all of it waits for its session when its sign-in is revoked', async () => {
    const { nodeId, sessionId } = await makeNode();
    const person = await makePerson(api.url, world.token, 'Developer');
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const { before, late } = await database.transaction(async (tx) => {
      await tx.query('select from session where id = $1 for update', [sessionId]);
      const before = [1, 2].map((text) => upload(nodeId, Buffer.from(`${text}`)));
      await eventually('two wait for the session', async () => (await database.query(waiting)).length === 2);
      const late = upload(nodeId, Buffer.from('late'), bearer(person.token));
      // Both are checked together.
      const bytes = drip();
      const beside = upload((await makeNode()).nodeId, bytes, bearer(person.token));
      await eventually('all are under way', async () => (await pending()) === 4);
      await revoke(person);
      expect((await beside).status).toBe(401);
      bytes.destroy();
      return { before, late };
    });
    expect((await late).status).toBe(401);
    expect((await Promise.all(before)).map(({ status }) => status)).toEqual([201, 201]);
    expect(await outputsOf(nodeId)).toHaveLength(2);
    await eventually('nothing is left', async () => (await pending()) === 0);
  });

  test('of a device is refused once its own token is revoked, and that of another device goes on', async () => {
    const { nodeId } = await makeNode();
    const device = async () => {
      const made = await ask(api.url, 'POST', offlineTokens, admin);
      const bytes = drip();
      return { bytes, answer: upload(nodeId, bytes, bearer(made.body.token)) };
    };
    const lost = await device();
    const [listed] = (await ask(api.url, 'GET', offlineTokens, admin)).body;
    const kept = await device();
    await eventually('both are under way', async () => (await pending()) === 2);
    const path = `${offlineTokens}/${listed.secretId}`;
    expect((await ask(api.url, 'DELETE', path, admin)).status).toBeLessThan(300);
    expect((await lost.answer).status).toBe(401);
    lost.bytes.destroy();
    kept.bytes.end();
    expect((await kept.answer).status).toBe(201);
  });

  test('in pieces is refused, keeps what has come, and goes on with a new sign-in', async () => {
    const { nodeId } = await makeNode();
    const person = await makePerson(api.url, world.token, 'Developer');
    const begun = await world.begin(nodeId, 8 * mebibyte, bearer(person.token));
    const path = begun.headers.location!;
    const bytes = drip();
    bytes.write(Buffer.alloc(mebibyte));
    const answer = piece(path, 0, bytes, bearer(person.token));
    await eventually('its writer is at work', async () => {
      const rows = await database.query('select 1 from resumable_upload where store_upload_id is not null');
      return rows.length === 1;
    });
    await revoke(person);
    expect((await answer).status).toBe(401);
    bytes.destroy();
    expect(await outputsOf(nodeId)).toEqual([]);
    const again = bearer(await tokenOf(api.url, person.username, person.password));
    const at = await send('HEAD', path, { 'tus-resumable': '1.0.0', ...again });
    const offset = Number(at.headers['upload-offset']);
    expect(offset).toBeGreaterThanOrEqual(mebibyte);
    const rest = await piece(path, offset, Buffer.alloc(8 * mebibyte - offset), again);
    expect([rest.status, rest.headers['upload-offset']]).toEqual([204, String(8 * mebibyte)]);
    expect(await outputsOf(nodeId)).toHaveLength(1);
  });
});

describe('other calls that last', () => {
  test('a download that is read slowly is broken off once its sign-in is revoked', async () => {
    const { nodeId } = await makeNode();
    const created = (await upload(nodeId, Buffer.alloc(32 * mebibyte))).json() as { readonly id: number };
    const person = await makePerson(api.url, world.token, 'Developer');
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${api.url}/api/v2/node-instance/outputs/${created.id}/data`;
      httpRequest(url, { agent: false, headers: bearer(person.token) }, resolve)
        .on('error', reject)
        .end();
    });
    expect(response.statusCode).toBe(200);
    const broken = new Promise<Error>((resolve) => response.once('error', resolve));
    await revoke(person);
    // It would take half a minute.
    const timer = setInterval(() => response.read(65_536) ?? response.read(), 50);
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
    clearInterval(timer);
  });

  test('a JSON body that comes slowly changes nothing once its sign-in is revoked', async () => {
    const person = await makePerson(api.url, world.token, 'Developer');
    const { nodeId, sessionId } = await makeNode();
    const body = JSON.stringify({ name: 'Too late' });
    const headers = { ...bearer(person.token), 'content-type': 'application/json', expect: '100-continue' };
    const request = httpRequest(`${api.url}/api/v2/sessions/${sessionId}`, {
      method: 'PATCH',
      agent: false,
      headers: { ...headers, 'content-length': body.length },
    });
    const answer = once(request, 'response');
    request.flushHeaders();
    await once(request, 'continue');
    // Both are checked together.
    const bytes = drip();
    const beside = upload(nodeId, bytes, bearer(person.token));
    await eventually('both are under way', async () => (await pending()) === 1);
    await revoke(person);
    expect((await beside).status).toBe(401);
    bytes.destroy();
    request.end(body);
    const [response] = (await answer) as [IncomingMessage];
    expect(response.statusCode).toBe(401);
    response.resume();
    const [session] = await database.query('select name from session where id = $1', [sessionId]);
    expect(session).not.toEqual({ name: 'Too late' });
  });
});
