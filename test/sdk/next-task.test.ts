/** Finish and get the next: one call between two tasks. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defineRunner, startRunner } from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { contractStage } from './support/contract-stage.ts';

test('tasks that wait come with the end of the one before', async () => {
  const stage = await contractStage();
  const nodes = Array.from({ length: 5 }, () => stage.offer('x'));
  await stage.start({});
  for (const node of nodes) await stage.ended(node);
  await eventually('it waits for more', () => stage.server.world.desk.waiting === 1);
  // One claim got the first task, one waits now.
  expect(stage.server.journal.of('claim')).toHaveLength(2);
  const all = nodes.flatMap(({ runs }) => runs.flatMap(({ claims }) => claims));
  expect(all.map(({ end }) => end?.how)).toEqual(Array(5).fill('complete'));
});

test('a task whose end has lost its answer is worked on after the repeat', async () => {
  const stage = await contractStage();
  const nodes = [stage.offer('x'), stage.offer('y')];
  stage.server.faults.add({ on: ['complete'], fault: { kind: 'lose-answer' } });
  await stage.start({});
  for (const node of nodes) await stage.ended(node);
  const all = nodes.flatMap(({ runs }) => runs.flatMap(({ claims }) => claims));
  expect(all.map(({ end }) => end?.how)).toEqual(['complete', 'complete']);
});

test('a task that comes when the runner stops is released, which counts as no attempt', async () => {
  const stage = await contractStage();
  const [first, second] = [stage.offer('x'), stage.offer('y')];
  const { url, token } = stage.server;
  const goOn = Promise.withResolvers<void>();
  const held = stage.server.faults.add({ on: ['complete'], fault: { kind: 'hold', until: goOn.promise } });
  const runner = defineRunner({ templates: ['contract'], run: () => 'no-output' });
  const running = await startRunner(runner, {
    url,
    token,
    waitSeconds: 5,
    graceSeconds: 10,
    log: () => undefined,
  });
  await eventually('its end is on its way', () => held.hits.length === 1);
  const stopped = running.stop();
  await delay(50);
  goOn.resolve();
  await stopped;
  expect(first.runs[0]?.outcome).toBe('no-output');
  expect(second.runs[0]).toMatchObject({ state: 'queued', attempt: 1 });
  expect(second.runs[0]?.claims.map(({ end }) => end?.how)).toEqual(['release']);
});
