import { Agent, get } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startApi } from '../../api/start.ts';
import { ask, startedApi, startTestApi } from '../support/api.ts';
import { stretched } from '../support/stretched.ts';

const { api, platform } = await startedApi();

describe('health', () => {
  test('is 200 without a token while database and storage answer', async () => {
    for (const path of ['/health_check', '/api/v2/health', '/api/v2.0/health']) {
      const { status, body } = await ask(api.url, 'GET', path);
      expect([status, body]).toEqual([200, { status: 'ok' }]);
    }
    expect((await ask(api.url, 'HEAD', '/health_check')).status).toBe(200);
  });

  test('is 503 with the documented message while storage is away; devices still see a reachable service', async () => {
    const elsewhere = { ...platform.environment, S3_ENDPOINT: 'http://127.0.0.1:9' };
    const own = await startTestApi(elsewhere);
    try {
      const check = await ask(own.url, 'GET', '/health_check');
      expect([check.status, check.body]).toEqual([
        503,
        { status: 'error', message: 'Service unavailable. Please try again later.' },
      ]);
      expect((await ask(own.url, 'GET', '/api/v2/health')).status).toBe(200);
    } finally {
      await own.stop();
    }
  });

  test('times out on a silent part after two seconds, and checks at most once a second', async () => {
    let asked = 0;
    const silent = () => {
      asked += 1;
      return new Promise<void>(() => undefined);
    };
    const { services, authRouteSet } = api.composed;
    const server = await startApi({
      authRouteSet,
      services: { ...services, probes: { ...services.probes, database: silent } },
    });
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(server.url, 'GET', '/api/v2/health')),
    );
    expect(answers.every((answer) => answer.status === 503)).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(stretched(4000));
    expect(asked).toBe(1);
    await server.stop(1);
  });

  test('reports a stopping process to load balancers, and serves every call until they notice', async () => {
    const own = await startTestApi({ ...platform.environment, SHUTDOWN_DELAY_SECONDS: '1' });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const over = (path: string, connection?: Agent) =>
      new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
        const options = connection === undefined ? { agent: false as const } : { agent: connection };
        get(own.url + path, options, (response) => {
          response.resume();
          response.on('end', () => resolve([response.statusCode, response.headers.connection]));
        }).on('error', reject);
      });
    try {
      expect(await over('/ready_check', agent)).toEqual([200, 'keep-alive']);
      const stopped = own.server.stop();
      expect(await over('/ready_check')).toEqual([503, 'close']);
      // Over a connection that was quiet when the end began.
      expect(await over('/api/v2/health', agent)).toEqual([200, 'close']);
      expect(await over('/health_check')).toEqual([200, 'close']);
      await stopped;
      await expect(over('/ready_check')).rejects.toThrow('ECONNREFUSED');
    } finally {
      agent.destroy();
      await own.stop();
    }
  });
});
