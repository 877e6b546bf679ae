/** The C++ example is built with CMake and passes every scenario of the conformance kit. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import { nodeRunner, play, troubles } from './kit.ts';

const source = fileURLToPath(new URL('../../sdk/examples/cpp', import.meta.url));
const run = promisify(execFile);
const missing = [
  ['cmake', '--version'],
  ['c++', '--version'],
  ['curl-config', '--version'],
].flatMap(([program = '', option = '']) => (spawnSync(program, [option]).status === 0 ? [] : [program]));

test.skipIf(missing.length > 0)(
  `the C++ example conforms${missing.length > 0 ? ` (there is no ${missing.join(', no ')})` : ''}`,
  async () => {
    const build = mkdtempSync(join(tmpdir(), 'sdp-cpp-'));
    onTestFinished(() => rmSync(build, { recursive: true, force: true }));
    await run('cmake', ['-S', source, '-B', build]);
    const { stdout, stderr } = await run('cmake', ['--build', build]);
    expect(stdout + stderr).not.toMatch(/warning:/);
    const results = await play(
      {
        ...nodeRunner('unused', { incremental: true }),
        command: `exec "${join(build, 'speed-to-distance')}"`,
        template: 'speed-to-distance',
      },
      undefined,
      3,
    );
    expect(troubles(results)).toEqual([]);
    expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
      scenarios.map(({ name }) => [name, 'pass']),
    );
  },
);
