/** How the creators of runner tokens are checked, and what holds while they cannot be. */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { noteCreators } from '../../../store/runners/runner-tokens.ts';
import { ask, startTestApi, type TestPerson } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { stretched } from '../../support/stretched.ts';
import { creatorStage } from './creator-stage.ts';
import { tokensPath } from './support.ts';

const { stage, api, database, platform, whoami, becomes, creator, isRevoked } = await creatorStage();

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
