/** The examples of the runner kit, in TypeScript and Python, pass every scenario of the conformance kit. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import type { RunnerUnderTest } from '../../sdk/conformance/stage.ts';
import { pythonProgram } from '../support/python-program.ts';
import { nodeRunner, play, troubles } from './kit.ts';

const sdk = fileURLToPath(new URL('../../sdk/', import.meta.url));

/** An example by its folder; its manifest names its node template. */
function example(
  folder: string,
  command: string,
  configuration: Record<string, unknown> = {},
  environment: Record<string, string> = {},
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
    environment: { ...plain.environment, ...environment },
  };
}

const typescript = (folder: string) => `"${process.execPath}" main.ts examples/${folder}/runner.ts`;

async function passes(under: RunnerUnderTest): Promise<void> {
  const results = await play(under, undefined, 3);
  expect(troubles(results)).toEqual([]);
  expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
    scenarios.map(({ name }) => [name, 'pass']),
  );
}

test.concurrent('resample-csv conforms', () =>
  passes(example('resample-csv', typescript('resample-csv'), { rateHz: 10 })));

test.concurrent('incremental-aggregation conforms', () =>
  passes(example('incremental-aggregation', typescript('incremental-aggregation'), { column: 'speed' })));

const inPython = { PYTHONPATH: `${sdk}python/src`, PYTHONDONTWRITEBYTECODE: '1' };

describe.skipIf(pythonProgram === undefined)('in Python (skipped where there is no python3)', () => {
  test.concurrent.each([
    ['python', 'csv_to_json_lines', {}],
    ['resample-csv', 'resample_csv', { rateHz: 10 }],
    ['incremental-aggregation', 'incremental_aggregation', { column: 'speed' }],
  ])('for the node template of %s, %s conforms', (folder, module, configuration) =>
    passes(example(folder, `"${pythonProgram}" examples/python/${module}.py`, configuration, inPython)),
  );
});
