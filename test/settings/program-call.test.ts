/** What programs do with arguments: an operator who asks for help must not start a migration. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileCache } from '../support/caches.ts';

const checkout = join(import.meta.dirname, '../..');
const programs = [
  'store/migrate.ts',
  'auth/migrate.ts',
  'store/make-bucket.ts',
  'store/roles.ts',
  'api/main.ts',
  'auth/main.ts',
  'worker/main.ts',
  'worker/runner-host/main.ts',
  'worker/write-bundle.ts',
  'local/sbom.ts',
];

/** Without a setting: what would go on ends with a line about one. */
function call(program: string, ...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { NODE_COMPILE_CACHE: compileCache };
    execFile(process.execPath, [program, ...args], { cwd: checkout, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
}

test.each(programs)(
  '%s prints its usage when it is asked, and refuses what it does not know',
  async (program) => {
    const usage = new RegExp(`^Usage: (node ${program}|npm run sbom)`, 'm');
    const [help, unknown] = await Promise.all([call(program, '--help'), call(program, '--fast')]);
    expect(help.code).toBe(0);
    expect(help.out + help.err).toMatch(usage);
    expect(unknown.code).toBe(1);
    expect(unknown.err).toMatch(usage);
    expect(unknown.out).toBe('');
  },
);

test.each(['store/migrate.ts', 'worker/main.ts'])('%s refuses a word that is no option', async (program) => {
  const { code, err } = await call(program, 'now');
  expect(code).toBe(1);
  expect(err).toMatch(/^Unexpected argument 'now'\. .*\nUsage: node /);
});
