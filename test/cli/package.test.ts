/** The command line outside of a checkout. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commandLine } from './support.ts';

const { folder } = commandLine();
const checkout = fileURLToPath(new URL('../../', import.meta.url));

test('the package is one program without dependencies that knows its version, finds no checkout and brings the kits', () => {
  const wanted = join(folder, 'not', 'there', 'yet');
  const packed = execFileSync(process.execPath, [join(checkout, 'cli/pack.ts'), wanted], {
    encoding: 'utf8',
  });
  execFileSync('tar', ['xzf', packed.trim().split('\n').at(-1)!, '-C', folder]);
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const own = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8'));
  expect([own.version, own.dependencies, own.bin]).toEqual([version, undefined, { sdp: './bin/sdp.mjs' }]);
  expect(readdirSync(join(folder, 'package', 'bin'))).toEqual(['sdp.mjs']);
  const program = join(folder, 'package', own.bin.sdp);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      cwd: folder,
      env: { XDG_CONFIG_HOME: folder },
    });
  expect(run('--version').stdout).toBe(`${version}\n`);
  expect(run('replay', '--help').stdout).toContain('sdp replay 102 -- python my_runner.py');
  expect(run('runner', 'init', 'made', '--python').status).toBe(0);
  const kit = /pip install pytest "(.+)"/.exec(readFileSync(join(folder, 'made', 'README.md'), 'utf8'))?.[1];
  expect(readFileSync(join(kit!, 'pyproject.toml'), 'utf8')).toContain('simulation-data-platform');
  const installed = join(folder, 'package', 'kits', 'typescript', 'sdk', 'main.js');
  expect(spawnSync(process.execPath, [installed, '--help'], { encoding: 'utf8' }).stderr).toMatch(/^Usage: /);
  const none = run('projects', 'list');
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('No running platform found.')]);
});
