import { expect, onTestFinished, test } from 'vitest';
import { Problem } from '../../domain/errors.ts';
import { createApp } from '../../http/app.ts';
import { idsInPath } from '../../http/log-fields.ts';
import { listen } from '../../http/server/server.ts';
import { createLog } from '../../telemetry/log.ts';
import { eventually } from '../support/eventually.ts';

const uuid = '0198EE21-7d40-7c1a-9e55-2f6b8c0d3a71';

test('ids of a path are logged, and no other text that a caller wrote there', () => {
  const path = '/api/v2/node-instance/{nodeInstanceId}/outputs/{nodeOutputId}';
  expect(idsInPath(path, { nodeInstanceId: '7', nodeOutputId: uuid })).toEqual({
    nodeInstanceId: '7',
    nodeOutputId: uuid,
  });
  for (const text of ['petra@example.org', '7 and more', `x${uuid}`, `${uuid}0`, ''])
    expect([text, idsInPath(path, { nodeInstanceId: text })]).toEqual([text, {}]);
});

test('an id without a name is that of a session below sessions alone', () => {
  for (const path of ['/api/v2/session/{id}/close', '/api/v2/sessions/{id}'])
    expect(idsInPath(path, { id: uuid })).toEqual({ sessionId: uuid });
  expect(idsInPath('/projects/{id}', { id: '7' })).toEqual({});
  expect(idsInPath('/api/v2/sessions/{id}', { id: 'petra@example.org' })).toEqual({});
});

test.for([
  ['only asks its caller to wait is one line, of no error', undefined, [['info', 'request', 503]]],
  [
    'has a cause names it',
    new Error('the store is away'),
    [
      ['error', 'request failed', undefined],
      ['error', 'request', 503],
    ],
  ],
] as const)('a 503 that %s', async ([, cause, expected]) => {
  const lines: { readonly level: string; readonly msg: string; readonly status?: number }[] = [];
  const shutdown = new AbortController();
  const app = createApp({
    routeSets: [],
    fallback: async () => {
      throw new Problem('unavailable', { cause });
    },
    log: createLog({ service: 'test' }, 'info', {
      write: (line: string) => void lines.push(JSON.parse(line)),
    }),
    shutdown: shutdown.signal,
  });
  const server = await listen(app.callback(), { port: 0, shutdown });
  onTestFinished(() => server.stop(1));
  expect((await fetch(`${server.url}/busy`)).status).toBe(503);
  await eventually('its line is written', () => lines.some(({ status }) => status === 503));
  expect(lines.map(({ level, msg, status }) => [level, msg, status])).toEqual(expected);
});
