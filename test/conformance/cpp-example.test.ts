/** The C++ example is built with CMake and passes every scenario of the conformance kit. */
import { expect, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import { buildCpp } from '../sdk/support/cpp-example.ts';
import { nodeRunner, play, troubles } from './kit.ts';

const { program, words } = await buildCpp();

test('the C++ example conforms', async () => {
  expect(words).not.toMatch(/warning:/);
  const results = await play(
    {
      ...nodeRunner('unused', { incremental: true }),
      command: `exec "${program}"`,
      template: 'speed-to-distance',
    },
    undefined,
    3,
  );
  expect(troubles(results)).toEqual([]);
  expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
    scenarios.map(({ name }) => [name, 'pass']),
  );
});
