/** What an operator reads in the log of a platform with a separate authentication service. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { forwardTo } from '../../api/identity/auth-forward.ts';
import { authOverHttp } from '../../api/identity/auth-over-http.ts';
import { authRoutes } from '../../auth/service.ts';
import { createApp } from '../../http/app.ts';
import { listen } from '../../http/server/server.ts';
import { createLog } from '../../telemetry/log.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiProcess, spawnAuth, testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const processes = testProcesses(platform.environment);
let auth: ApiProcess;
beforeAll(async () => {
  auth = await spawnAuth(platform.environment);
});
afterAll(async () => {
  auth.kill('SIGTERM');
  await auth.ended;
});

test('another AUTH_SERVICE_KEY than that of the service is named as the cause', async () => {
  const own = authOverHttp(auth.url, platform.environment.AUTH_SERVICE_KEY!);
  expect(await own.findActive([], 'x')).toEqual([]);
  const other = authOverHttp(auth.url, 'w'.repeat(40));
  await expect(other.findActive([], 'x')).rejects.toThrow('has another AUTH_SERVICE_KEY');
});

test('a service whose port, or that of its metrics, is taken ends with one sentence', async () => {
  const variables = { PORT: String(auth.port), HOST: '127.0.0.1' };
  const second = processes.startScript('auth/main.ts', variables);
  expect(await second.ended).toBe(1);
  expect(second.log()).toBe(`PORT: ${auth.port} is in use by another program.\n`);
  const taken = { PORT: '0', HOST: '127.0.0.1', METRICS_PORT: String(auth.port), METRICS_HOST: '127.0.0.1' };
  const third = processes.startScript('auth/main.ts', taken);
  expect(await third.ended).toBe(1);
  expect(third.log()).toBe(`METRICS_PORT: ${auth.port} is in use by another program.\n`);
});

test('a service that does not answer is named, with the cause', async () => {
  const away = authOverHttp('http://127.0.0.1:9', 'w'.repeat(40));
  await expect(away.validate('hat_x', 'x')).rejects.toMatchObject({
    message: 'The authentication service (AUTH_URL) gave no valid answer.',
    cause: expect.any(Error),
  });
});

test('a caller that leaves while the service is slow is no error', async () => {
  let waiting = 0;
  const silent = createServer(() => {
    waiting += 1;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const lines: { readonly level: string; readonly status?: number }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const shutdown = new AbortController();
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const app = createApp({
    routeSets: [forwardTo(url, authRoutes)],
    log: createLog({ service: 'test' }, 'info', { write }),
    shutdown: shutdown.signal,
  });
  const server = await listen(app.callback(), { port: 0, shutdown });
  onTestFinished(async () => {
    silent.closeAllConnections();
    silent.close();
    await server.stop(1);
  });
  const call = request(`${server.url}/api/authorization/health`, { agent: false });
  call.on('error', () => undefined).end();
  await eventually('the service has the call', () => waiting === 1);
  call.destroy();
  await eventually('the line of the call is written', () => lines.some(({ status }) => status === 499));
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
});
