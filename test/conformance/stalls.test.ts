/** A machine on which the kit stalls must not count against a runner. */
import { expect, test } from 'vitest';
import { playAll } from '../../sdk/conformance/run.ts';
import type { Scenario } from '../../sdk/conformance/scenario.ts';
import { Stalls } from '../../sdk/conformance/stalls.ts';
import { nodeRunner } from './kit.ts';

const stall = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Finds a missing heartbeat at each try; of these tries the process stalls in the first ones. */
function scenarioWith(stalledTries: number, findingTries: number): Scenario & { tries: number } {
  const scenario = {
    name: 'stalls',
    title: 'the process stalls',
    tries: 0,
    async play(stage: Parameters<Scenario['play']>[0]) {
      scenario.tries += 1;
      stage.start();
      if (scenario.tries <= stalledTries) stall(1_300);
      if (scenario.tries <= findingTries) stage.found('heartbeat-missing', 'None came.');
      stage.over();
    },
  };
  return scenario;
}

async function playedAs(scenario: Scenario) {
  const [result] = await playAll([scenario], nodeRunner('reference-runner.ts'), 1, () => undefined);
  return result!;
}

test('a scenario that found something while the kit stalled is played again', async () => {
  const scenario = scenarioWith(1, 1);
  const { verdict, notes } = await playedAs(scenario);
  expect([verdict, notes, scenario.tries]).toEqual(['pass', [], 2]);
});

test('one in which nothing was found is not', async () => {
  const scenario = scenarioWith(1, 0);
  expect((await playedAs(scenario)).verdict).toBe('pass');
  expect(scenario.tries).toBe(1);
});

test('a finding of every try stays, with a note on the stall', async () => {
  const scenario = scenarioWith(9, 9);
  const { verdict, notes } = await playedAs(scenario);
  expect([verdict, scenario.tries]).toEqual(['fail', 3]);
  expect(notes).toEqual([
    expect.stringMatching(/^The kit itself did not run for \d+\.\d s: the machine was busy\./),
  ]);
});

test('a finding without a stall stays at once', async () => {
  const scenario = scenarioWith(0, 9);
  expect((await playedAs(scenario)).verdict).toBe('fail');
});

test('a question notes a stall before the timer does, and after the end none is noted', () => {
  const stalls = new Stalls();
  const sinceMs = performance.now();
  stall(300);
  expect(stalls.within(sinceMs, performance.now())).toBeGreaterThan(100);
  stalls.stop();
  const { maxMs } = stalls;
  stall(2 * maxMs);
  expect([stalls.maxMs, stalls.maxMs]).toEqual([maxMs, maxMs]);
  stall(2 * maxMs);
  expect(stalls.maxMs).toBe(maxMs);
});
