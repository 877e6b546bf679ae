/** Another commit of this repository beside this checkout, ready to run its benchmarks. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../../../local/settings.ts';

export interface OtherCheckout {
  readonly folder: string;
  /** The commit, shortened. */
  readonly name: string;
  remove(): void;
}

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * Makes a worktree of a commit with its packages and its console.
 * @param folder of the worktree, which is not there yet
 * @throws Error with a sentence for the person who asked
 */
export function checkOut(reference: string, folder: string): OtherCheckout {
  let commit: string;
  try {
    commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${reference}^{commit}`);
  } catch {
    throw new Error(`There is no commit ${reference} in this repository.`);
  }
  git('worktree', 'add', '--detach', folder, commit);
  const remove = () => git('worktree', 'remove', '--force', folder);
  try {
    linkPackages(folder);
    // Its packages, where they are others, and its console.
    execFileSync(process.execPath, ['local/bootstrap.mjs', 'console'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return { folder, name: git('rev-parse', '--short', commit), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * The packages of this checkout, where they are those that the other one locks. Only when they are known to be installed as
 * locked: whoever found them wrong would install others in their place.
 */
function linkPackages(folder: string): void {
  const digest = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(path, 'package-lock.json')))
      .digest('hex');
  const modules = join(checkout, 'node_modules');
  const stamp = join(modules, '.installed');
  const isInstalled = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest(folder);
  if (isInstalled) symlinkSync(modules, join(folder, 'node_modules'));
}
