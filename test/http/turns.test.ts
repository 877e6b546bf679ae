import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Principal } from '../../api/identity/auth-client.ts';
import type { Services } from '../../api/services.ts';
import { access } from '../../domain/access/access.ts';
import { routeFactory } from '../../http/route.ts';
import { ownTurn, slices, Turns } from '../../http/turns.ts';
import { startTestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';
import { echo } from './machinery-routes.ts';

const workMs = 4;

function compute(): void {
  const until = performance.now() + workMs;
  while (performance.now() < until);
}

test('calls that yield begin in the order in which they came', async () => {
  const begun: number[] = [];
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  await Promise.all(
    numbers.map(async (number) => {
      await ownTurn();
      begun.push(number);
    }),
  );
  expect(begun).toEqual(numbers);
});

test('callers come in turn, however much one of them has waiting, and who gives up takes no turn', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  const gone = new AbortController();
  const turn = async (caller: string, name: string, signal?: AbortSignal) => {
    await turns.wait(caller, signal);
    if (signal?.aborted !== true) begun.push(name);
  };
  const all = [
    ...[1, 2, 3, 4].map((number) => turn('greedy', `greedy ${number}`)),
    turn('gone', 'gone', gone.signal),
    turn('gone', 'gone before', AbortSignal.abort()),
    turn('other', 'other 1'),
    turn('other', 'other 2'),
  ];
  gone.abort();
  await Promise.all(all);
  const inTurn = ['greedy 1', 'greedy 2', 'other 1', 'greedy 3', 'other 2', 'greedy 4'];
  expect(begun).toEqual(inTurn);
});

test('long work in slices lets timers and other calls come between its steps', async () => {
  const pause = slices();
  let between = 0;
  const timer = setInterval(() => {
    between += 1;
  }, 1);
  for (let step = 0; step < 50; step++) {
    compute();
    await pause();
  }
  clearInterval(timer);
  expect(between).toBeGreaterThan(3);
});

test('calls that yield leave half of the time to others, however many they are', async () => {
  const startedAt = performance.now();
  const calls = 20;
  await Promise.all(
    Array.from({ length: calls }, async () => {
      await ownTurn();
      compute();
    }),
  );
  // No pause follows the last one.
  expect(performance.now() - startedAt).toBeGreaterThan(workMs * (2 * calls - 1));
});

test('a request is answered before the calls that yield and came earlier', async () => {
  let done = 0;
  const { environment } = await testEnvironment();
  const api = await startTestApi(environment, {
    routes: [
      echo,
      routeFactory<Services, Principal>()({
        id: 'yielding',
        method: 'POST',
        path: '/yielding',
        summary: 'Can wait',
        tags: ['Test'],
        access: access.open,
        yields: true,
        body: z.object({ number: z.int() }),
        responses: { 204: { description: 'Done.' } },
        handler() {
          compute();
          done += 1;
          return { status: 204 };
        },
      }),
    ],
  });
  try {
    const post = (path: string, body: unknown) =>
      fetch(`${api.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const calls = 100;
    const all = Array.from({ length: calls }, (_, number) => post('/yielding', { number }));
    await expect.poll(() => done, { interval: 1 }).toBeGreaterThan(0);
    expect((await post('/echo/1', { Title: 'first' })).status).toBe(201);
    expect(done).toBeLessThan(calls);
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: calls }, () => 204));
    expect(done).toBe(calls);
  } finally {
    await api.stop();
  }
});
