/** The examples of the runner kit, in TypeScript and Python, pass every scenario of the conformance kit. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import type { RunnerUnderTest } from '../../sdk/conformance/stage.ts';
import { nodeRunner, play, troubles } from './kit.ts';

const sdk = fileURLToPath(new URL('../../sdk/', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** An example by its folder; its manifest says what it claims for. */
function example(
  folder: string,
  command: string,
  configuration: Record<string, unknown> = {},
): RunnerUnderTest {
  const manifest = JSON.parse(readFileSync(`${sdk}examples/${folder}/manifest.json`, 'utf8'));
  const [{ name, incremental }] = manifest.nodeTemplates;
  const plain = nodeRunner('unused');
  return {
    ...plain,
    command: `exec ${command}`,
    cwd: sdk,
    template: name,
    incremental: incremental ?? false,
    configuration,
  };
}

const typescript = (folder: string) => `"${process.execPath}" main.ts examples/${folder}/runner.ts`;

/** They take a quarter of it on a quiet machine. */
const timeout = 150_000;

async function passes(under: RunnerUnderTest): Promise<void> {
  const results = await play(under, undefined, 3);
  expect(troubles(results)).toEqual([]);
  expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
    scenarios.map(({ name }) => [name, 'pass']),
  );
}

test.concurrent('resample-csv conforms', { timeout }, () =>
  passes(example('resample-csv', typescript('resample-csv'), { rateHz: 10 })),
);

test.concurrent('incremental-aggregation conforms', { timeout }, () =>
  passes(example('incremental-aggregation', typescript('incremental-aggregation'), { column: 'speed' })),
);

test
  .skipIf(!hasPython)
  .concurrent('the Python example conforms (skipped where there is no python3)', { timeout }, () =>
    passes(example('python', 'python3 examples/python/runner.py')),
  );
