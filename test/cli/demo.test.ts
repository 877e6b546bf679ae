/** `npm run demo` where there is nothing to show, and what it names. The whole of it: test/local/start.test.ts. */
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { runnerStage } from '../support/runner.ts';
import { ship } from '../support/templates.ts';

const program = fileURLToPath(new URL('../../cli/demo.ts', import.meta.url));

test.for([
  ['of the variable', { PORT: '1' }, 'http://127.0.0.1:1 does not answer.\n'],
  [
    'of this checkout',
    {},
    'No running platform found. Start one with `npm start`, or name one with --url.\n',
  ],
] as const)('asks for no password when the platform %s does not run', ([_which, variables, said]) => {
  const env = { PATH: process.env.PATH, DATA_DIR: join(tmpdir(), 'sdp-no-such-folder'), ...variables };
  const { status, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, said]);
});

test('names the recording by its file', async () => {
  const stage = await runnerStage();
  await ship(stage.database);
  const { username, password } = stage.platform.administrator;
  const env = { PATH: process.env.PATH, ADMIN_PASSWORD: password };
  const args = [program, '--url', stage.api.url, '--username', username];
  // No worker runs the graph, for whose end the command waits.
  const command = spawn(process.execPath, args, { env, stdio: 'ignore' });
  try {
    const names = await eventually('the recording is uploaded', async () => {
      const outputs = await stage.database.query<{ name: string }>(
        'select output_identifier as name from node_output',
      );
      return outputs.length > 0 && outputs.map(({ name }) => name);
    });
    expect(names).toEqual([expect.stringMatching(/^seattle-weather-hourly-normals\.csv-[0-9a-f]{16}$/)]);
  } finally {
    command.kill();
  }
});
