/** How the creators of runner tokens are checked, what holds while they cannot be, and how tokens end with them. */

import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { noteCreators } from '../../../store/runners/runner-tokens.ts';
import { ask, makePerson, startTestApi, type TestPerson } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { upload } from '../../support/graph.ts';
import { stretched } from '../../support/stretched.ts';
import { creatorStage } from './creator-stage.ts';
import { newRunnerType, newToken, requestToken, tokensPath } from './support.ts';

const world = await creatorStage();
const { stage, api, people, platform, database, users, whoami } = world;
const { becomes, change, makeDue, asked, creator, isRevoked } = world;
const hourMs = 3_600_000;

describe('a runner token ends with its creator', () => {
  test('who is deactivated, and stays ended when they are reactivated', async () => {
    const { person, made } = await creator();
    await change(person, { isActive: false });
    await asked(person);
    await becomes(401, made.token);
    expect(await isRevoked(made.id)).toBe(true);
    await change(person, { isActive: true });
    await database.query(
      `update runner_token_creator set checked_at = now() - interval '1 hour' where user_id = $1`,
      [person.userId],
    );
    await becomes(401, made.token);
  });

  test('who was deactivated and reactivated between two checks', async () => {
    const { person, made } = await creator();
    await change(person, { isActive: false });
    await change(person, { isActive: true });
    await asked(person);
    await becomes(401, made.token);
  });

  test('who is deleted, and its tasks are released', async () => {
    const { person, runnerType, made } = await creator();
    const graph = await stage.chainOf(1, { runnerType });
    await upload(database, graph, 'input');
    await stage.runner({ token: made.token }).acquire(graph.template);
    await ask(api.url, 'DELETE', `${users}/${person.userId}`, { token: people.adminToken });
    await makeDue(person);
    await eventually('it is refused', async () => (await whoami(made.token)).status === 401);
    const next = await stage.runner().claim(graph.template, 5);
    expect(next).toMatchObject({ status: 200, body: { attempt: 1 } });
  });

  test('whose tokens are all revoked; one made afterwards is good', async () => {
    const { person, runnerType, made } = await creator();
    const json = { username: person.username };
    await ask(api.url, 'POST', '/api/authorization/revoke', { token: people.adminToken, json });
    const fresh = await ask(api.url, 'POST', '/api/authorization/token', {
      json: { username: person.username, password: person.password },
    });
    const later = await newToken(stage, [runnerType], { by: fresh.body.accessToken });
    // Its creation already notified the platform of the revocation.
    await becomes(401, made.token);
    await asked(person);
    await becomes(401, made.token);
    expect((await whoami(later.token)).status).toBe(200);
    await ask(api.url, 'POST', '/api/authorization/revoke', { token: people.adminToken, json });
    await asked(person);
    await becomes(401, later.token);
  });

  test('while the tokens of others stay valid', async () => {
    const [one, other] = [await creator(), await creator()];
    await change(one.person, { isActive: false });
    await asked(one.person);
    await asked(other.person);
    await becomes(401, one.made.token);
    expect((await whoami(other.made.token)).status).toBe(200);
  });
});

describe('a runner token is limited by its creator’s current role', () => {
  test('an Administrator who becomes Developer leaves it the external types and thirty days', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Administrator');
    const [external, deployed] = [await newRunnerType(stage), await newRunnerType(stage, 'sdk')];
    const fields = { ttlHours: 8760 };
    const made = await newToken(stage, [external, deployed], { by: person.token, fields });
    const graph = await stage.chainOf(1, { runnerType: deployed });
    await upload(database, graph, 'input');
    const runner = stage.runner({ token: made.token });
    const task = await runner.acquire(graph.template);
    expect((await whoami(made.token)).body.runnerTypes.sort()).toEqual([external, deployed].sort());
    await change(person, { role: 'Developer' });
    await asked(person);
    const { body } = await whoami(made.token);
    expect(body.runnerTypes).toEqual([external]);
    expect(Math.round((Date.parse(body.expiresAt) - Date.now()) / hourMs)).toBe(720);
    expect((await runner.claim(graph.template)).body.code).toBe('template_not_allowed');
    await eventually(
      'what it holds is given back',
      async () => (await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {})).status === 404,
    );
  });

  test('is of no use while the creator has another role, waiting claims included', async () => {
    const { person, runnerType, made } = await creator();
    const graph = await stage.chainOf(1, { runnerType });
    const waiting = stage.runner({ token: made.token }).claim(graph.template, 60);
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    await change(person, { role: 'Instructor' });
    await asked(person);
    for (const answer of [await whoami(made.token), await waiting])
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    await change(person, { role: 'Developer' });
    await asked(person);
    expect((await whoami(made.token)).status).toBe(200);
  });

  test('cannot be created by a user who has just lost the role or the sign-in', async () => {
    const { person, runnerType } = await creator();
    await change(person, { role: 'Trainee' });
    expect((await requestToken(stage, { runnerTypes: [runnerType] }, person.token)).status).toBe(403);
    await ask(api.url, 'POST', '/api/authorization/logout', { token: person.token });
    expect((await requestToken(stage, { runnerTypes: [runnerType] }, person.token)).status).toBe(401);
  });
});

describe('when the creator cannot be checked', () => {
  /** The API of the stage reaches the service: its rounds leave this creator out, however long the test takes. */
  const forget = (person: TestPerson) =>
    database.query(
      `update runner_token_creator set checked_at = now() - interval '31 s', asked_at = now() + interval '1 hour'
        where user_id = $1`,
      [person.userId],
    );

  /** The answer that refuses the token. A round that had asked before notes its answer late, so each try forgets anew. */
  const refusal = (person: TestPerson, token: string, url: string) =>
    eventually('the token is refused', async () => {
      await forget(person);
      const reply = await whoami(token, url);
      return reply.status === 503 && reply;
    });

  test('the token is refused with 503 after half a minute, and accepted again after a check', async () => {
    const away = await startTestApi({ ...platform.environment, AUTH_URL: 'http://127.0.0.1:9' });
    try {
      const { person, made } = await creator();
      expect((await whoami(made.token, away.url)).status).toBe(200);
      const refused = await refusal(person, made.token, away.url);
      expect([refused.body.code, refused.headers.get('retry-after')]).toEqual(['unavailable', '1']);
      await becomes(401, 'hrt_garbage', away.url);
      // A process that reaches the service asks when it checks again, and the other processes use its answer.
      await eventually('both know the creator again', async () => {
        const [here, there] = [await whoami(made.token), await whoami(made.token, away.url)];
        return here.status === 200 && there.status === 200;
      });
    } finally {
      await away.stop();
    }
  });

  test('a claim that waits ends too', async () => {
    const away = await startTestApi({ ...platform.environment, AUTH_URL: 'http://127.0.0.1:9' });
    try {
      const { person, made } = await creator();
      const waiting = stage.runner({ token: made.token, url: away.url }).claim([], 60);
      await eventually('it waits', () => away.composed.services.runners.waiters.idleCount === 1);
      const ended = await eventually('it ends', async () => {
        await forget(person);
        return Promise.race([waiting, delay(100, null)]);
      });
      expect(ended.status).toBe(503);
    } finally {
      await away.stop();
    }
  });

  test('an answer that refuses the platform ends no token', async () => {
    const wrong = { ...platform.environment, AUTH_URL: api.url, AUTH_SERVICE_KEY: 'w'.repeat(40) };
    const stranger = await startTestApi(wrong);
    try {
      const { person, runnerType, made } = await creator();
      expect((await whoami(made.token, stranger.url)).status).toBe(200);
      await refusal(person, made.token, stranger.url);
      const json = { runnerTypes: [runnerType] };
      const refused = await ask(stranger.url, 'POST', tokensPath, { token: person.token, json });
      expect(refused.status).toBe(503);
      expect((await whoami(made.token)).status).toBe(200);
      expect(await isRevoked(made.id)).toBe(false);
    } finally {
      await stranger.stop();
    }
  });
});

describe('the checks of creators', () => {
  const proxies: Server[] = [];
  afterAll(() => {
    for (const proxy of proxies) proxy.close();
  });

  /** Forwards all calls to the authentication service, and counts those about creators. */
  async function countingProxy(): Promise<{ url: string; count: () => number }> {
    let count = 0;
    const proxy = createServer((incoming, outgoing) => {
      if (incoming.url?.endsWith('/users/active')) count += 1;
      const { port, hostname } = new URL(api.url);
      const { method, headers, url: path } = incoming;
      const onward = httpRequest({ port, hostname, method, headers, path }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    proxies.push(proxy);
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve);
    });
    return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, count: () => count };
  }

  test('are made by one of several processes, within fifteen seconds', async () => {
    const proxy = await countingProxy();
    const own = { ...platform.environment, AUTH_URL: proxy.url };
    const copies = [await startTestApi(own), await startTestApi(own)];
    try {
      const { person } = await creator();
      const dueSeconds = async () => {
        const [row] = await database.query<{ seconds: number }>(
          'select extract(epoch from clock_timestamp() - checked_at)::float8 as seconds from runner_token_creator where user_id = $1',
          [person.userId],
        );
        return row!.seconds;
      };
      // The creators of other tests are checked first.
      await database.query('update runner_token set revoked_at = now() where created_by <> $1', [
        person.userId,
      ]);
      const before = proxy.count();
      await database.query(
        `update runner_token_creator set asked_at = now() - interval '12.5 s', checked_at = now() - interval '12.5 s' where user_id = $1`,
        [person.userId],
      );
      let maxSeconds = 0;
      await eventually('it is asked about', async () => {
        const seconds = await dueSeconds();
        maxSeconds = Math.max(maxSeconds, seconds);
        return seconds < 12;
      });
      expect(maxSeconds).toBeLessThan(stretched(15));
      // The first process, which asks the service itself, is one of them.
      expect(proxy.count() - before).toBeLessThanOrEqual(1);
    } finally {
      for (const copy of copies) await copy.stop();
    }
  });

  test('whose answers cross each other keep the newer one', async () => {
    const { person, made } = await creator();
    const answer = { userId: person.userId, tokensRevokedAt: null };
    const [now, before] = [new Date(), new Date(Date.now() - 2_000)];
    await noteCreators(database, [{ ...answer, role: 'Trainee' }], new Date(now.getTime() + 60_000));
    await noteCreators(database, [{ ...answer, role: 'Administrator' }], before);
    await becomes(403, made.token);
    // An old answer from a time before the token was made does not end it either.
    const old = new Date(Date.now() - 3_600_000);
    await noteCreators(database, [{ userId: person.userId, role: null, tokensRevokedAt: null }], old);
    expect(await isRevoked(made.id)).toBe(false);
  });
});
