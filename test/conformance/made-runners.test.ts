/** What `sdp runner init` makes passes every scenario of the conformance kit, and in TypeScript its own tests. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import { pythonProgram } from '../support/python-program.ts';
import { nodeRunner, play, troubles } from './kit.ts';

const checkout = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sdp-made-runners-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function make(language: string): string {
  const made = join(folder, language);
  const args = ['runner', 'init', made, `--${language}`, '--name', 'lap-tops'];
  execFileSync(process.execPath, [join(checkout, 'cli/sdp.ts'), ...args]);
  return made;
}

async function conforms(made: string, command: string, environment: Record<string, string> = {}) {
  const plain = nodeRunner('unused', { incremental: true });
  const results = await play(
    {
      ...plain,
      command: `exec ${command}`,
      cwd: made,
      template: 'lap-tops',
      environment: { ...plain.environment, ...environment },
    },
    undefined,
    3,
  );
  expect(troubles(results)).toEqual([]);
  expect(results.map(({ name, verdict }) => [name, verdict])).toEqual(
    scenarios.map(({ name }) => [name, 'pass']),
  );
}

test('in TypeScript it passes its tests, is typed and conforms', async () => {
  const made = make('typescript');
  const kit = /npm install "(.+)"/.exec(readFileSync(join(made, 'README.md'), 'utf8'))?.[1];
  const quietly = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'];
  execFileSync('npm', ['install', ...quietly, kit!], { cwd: made });
  const own = spawnSync(process.execPath, ['--test'], { cwd: made, encoding: 'utf8' });
  expect(own.stdout, own.stderr).toMatch(/pass 2\n/);
  // What a project in TypeScript has beside the kit.
  symlinkSync(join(checkout, 'node_modules/@types'), join(made, 'node_modules/@types'));
  execFileSync(process.execPath, [join(checkout, 'node_modules/typescript/bin/tsc'), '--project', made]);
  await conforms(
    made,
    `"${process.execPath}" node_modules/@simulation-data-platform/runner/main.ts runner.ts`,
  );
});

test.skipIf(pythonProgram === undefined)('in Python it conforms (skipped where there is no python3)', () =>
  conforms(make('python'), `"${pythonProgram}" -m sdp runner.py`, {
    PYTHONPATH: join(checkout, 'sdk/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  }),
);
