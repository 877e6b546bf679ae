/** The temporary folder of a deployed runner. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { confine } from '../../worker/runner-host/confinement.ts';

const isRoot = process.getuid?.() === 0;

/** Makes a folder that its owner cannot remove. @returns false where this user cannot do so */
function pin(folder: string): boolean {
  mkdirSync(folder);
  if (!isRoot) {
    writeFileSync(join(folder, 'file'), '');
    chmodSync(folder, 0);
    onTestFinished(() => chmodSync(folder, 0o700));
    return true;
  }
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'sdp-test', folder], { stdio: 'ignore' });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return true;
}

test('of a process that has ended may stay, and does not keep its host from going on', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-confined-'));
  writeFileSync(join(folder, 'runner.ts'), '');
  const confinement = confine({ folder, path: join(folder, 'runner.ts'), uid: 64_123, allow: [] });
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
    rmSync(confinement.tempDir, { recursive: true, force: true });
  });
  const pinned = join(confinement.tempDir, 'pinned');
  if (!pin(pinned)) return context.skip();
  confinement.end();
  expect(existsSync(pinned)).toBe(true);
});
