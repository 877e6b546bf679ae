/** The commands of the examples' READMEs, as a reader types them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testProcesses } from '../support/processes.ts';
import { ship } from '../support/templates.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
await ship(stage.database);
const processes = testProcesses({});
const folder = mkdtempSync(join(tmpdir(), 'sdp-readmes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
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
