/** The files of a runner under development, without a platform. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Root may read every folder. */
const author = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test('a folder that the author may not read, such as the data of a container, is passed over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-author-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  onTestFinished(() => {
    chmodSync(data, 0o700);
    rmSync(folder, { recursive: true });
  });
  const runner = join(folder, 'runner.py');
  writeFileSync(runner, '');
  for (const [path, mode] of [[data, 0] as const, [runner, 0o666] as const, [folder, 0o755] as const])
    chmodSync(path, mode);
  const program = `
    import { appendFileSync } from 'node:fs';
    import { Watch } from ${JSON.stringify(join(import.meta.dirname, '../../cli/runner/watch.ts'))};
    const changed = new Watch(${JSON.stringify(folder)}).changed(AbortSignal.timeout(60_000));
    appendFileSync(${JSON.stringify(runner)}, 'print()');
    console.log((await changed).join());`;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { ...author, encoding: 'utf8' }).trim()).toBe('runner.py');
});
