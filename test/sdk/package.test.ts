/** The kit outside of this checkout: as an installed package, for modules in any folder, and by the commands of its READMEs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { chain, makeGraph, outsideTemplate } from '../support/graph.ts';
import { testProcesses } from '../support/processes.ts';
import { ship } from '../support/templates.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
await ship(stage.database);
const processes = testProcesses({});
const folder = mkdtempSync(join(tmpdir(), 'sdp-runner-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const program = resolve('node_modules/.bin/node');
const [, firstExample = ''] = /```ts\n([^`]+)```/.exec(readFileSync('sdk/README.md', 'utf8')) ?? [];

/** Runs the README's first example once by a started runner. */
async function topSpeed(command: string, args: readonly string[]) {
  await outsideTemplate(stage.database, 'top-speed');
  const graph = await makeGraph(stage.database, chain(1, 'top-speed'));
  await stage.database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
    [graph.sessionId],
  );
  const variables = { SDP_URL: stage.api.url, SDP_RUNNER_TOKEN: stage.people.Developer.token };
  const child = processes.startScript(command, variables, { program, args });
  await eventually('the runner claims tasks', () => child.log().includes('claims tasks'));
  await stage.upload(graph, 'input', '{"speeds": [3, 7, 5]}');
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.latest(graph, 'n1')).toBe('{"top":7}');
  child.kill('SIGTERM');
  expect(await child.ended).toBe(0);
}

test('a packed kit is installed, typed, and runs the first example of its README', async () => {
  const packed = execFileSync(program, ['sdk/pack.ts', folder], { encoding: 'utf8' }).trim();
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const quietly = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'];
  execFileSync('npm', ['install', ...quietly, packed], { cwd: folder });
  const module = join(folder, 'speed.ts');
  writeFileSync(module, firstExample);
  // What a project in TypeScript has beside the kit.
  symlinkSync(resolve('node_modules/@types'), join(folder, 'node_modules/@types'));
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', '--target', 'es2024'];
  execFileSync(program, [resolve('node_modules/typescript/bin/tsc'), ...options, module], { cwd: folder });
  await topSpeed(join(folder, 'node_modules/.bin/sdp-runner'), [module]);
});

test('packing tells how it is used, and takes nothing that it does not know', () => {
  const run = (...args: string[]) => spawnSync(program, ['sdk/pack.ts', ...args], { encoding: 'utf8' });
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: /), stderr: '' });
  expect(run('--what')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^Usage: [^\n]+\n[^\n]+\n$/),
  });
});

test('a module that lies anywhere imports the kit that runs it', async () => {
  const lonely = mkdtempSync(join(tmpdir(), 'sdp-runner-module-'));
  try {
    const module = join(lonely, 'speed.mts');
    writeFileSync(module, firstExample);
    await topSpeed('sdk/main.ts', [module]);
  } finally {
    rmSync(lonely, { recursive: true, force: true });
  }
});

test.each([
  ['exports no runner', 'nothing.mjs', 'does not export a runner by default'],
  ['is not there', 'nowhere.mjs', 'There is no file'],
])('a module that %s is refused by name, in one line', async (_how, name, message) => {
  writeFileSync(join(folder, 'nothing.mjs'), 'export const run = 1;');
  const module = join(folder, name);
  const child = processes.startScript('sdk/main.ts', {}, { program, args: [module] });
  expect(await child.ended).toBe(1);
  const lines = child.log().trim().split('\n');
  expect(lines).toEqual([expect.stringContaining(module)]);
  expect(lines[0]).toContain(message);
});

const missing = ['bash', 'curl', 'python3'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
);
const { username, password } = stage.platform.administrator;

const blocks = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sh\n([^`]+)```/g)].map(([, text = '']) => text);
const signIn = blocks('sdk/examples/README.md')[0]!
  .replace('http://127.0.0.1:8080', stage.api.url)
  .replace('"username": "admin", "password": "..."', `"username": "${username}", "password": "${password}"`);

const why = missing.length === 0 ? '' : ` (there is no ${missing.join(', no ')})`;
describe.skipIf(missing.length > 0)(`the README's commands${why}`, () => {
  test.each([
    ['resample-csv', '0.9,4'],
    ['incremental-aggregation', '"mean":30'],
    ['python', '{"time": 0.5, "speed": 20}'],
  ])('of %s', async (example, result) => {
    const script = ['set -euo pipefail', signIn, ...blocks(`sdk/examples/${example}/README.md`)];
    const path = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
    const variables = { PATH: path, PYTHONDONTWRITEBYTECODE: '1' };
    const file = join(folder, `${example}.sh`);
    // The last one ends the runner; so does a command that fails.
    writeFileSync(file, `trap 'kill $(jobs -p) 2> /dev/null || :' EXIT\n${script.join('\n')}\n`);
    const child = processes.startScript(file, variables, { program: 'bash' });
    expect(await child.ended, child.log()).toBe(0);
    expect(child.log()).toContain(result);
  });
});
