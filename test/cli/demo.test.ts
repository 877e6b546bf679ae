/** `npm run demo` where there is nothing to show. The whole of it: test/local/start.test.ts. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

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
