/**
 * What the process of a deployed runner may do: read the operator's folder and the kit, write into a folder of its own,
 * start threads, use the network. Node refuses the rest; where the host is root, the system does too.
 */
import { chownSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Further permissions of a program; each of them leads out of Node's own bounds. */
export const allowances = ['addons', 'child-process', 'wasi'] as const;
type Allowance = (typeof allowances)[number];

export interface Confinement {
  /** Options of Node. */
  readonly flags: readonly string[];
  /**
   * A user other than the host's; undefined where the host may not choose one, or that user could not read the
   * programs.
   */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** For temporary files of this process alone. */
  readonly tempDir: string;
  /** Removes that folder. */
  end(): void;
}

export interface ConfinementWish {
  /** The operator's folder. */
  readonly folder: string;
  /** The module to run, without symbolic links. */
  readonly path: string;
  readonly uid: number;
  readonly allow: readonly Allowance[];
}

/** The kit and its dependencies. */
const kitFolders = ['sdk', 'client'].map((name) => join(import.meta.dirname, '../..', name));

/** Beginning of the names of folders for temporary files: they name the machine and the host's process. */
const temporaryPrefix = `sdp-runner-${hostname()}-`;

/** Removes the temporary folders of hosts on this machine that were killed. Call it before the first process starts. */
export function removeLeftFolders(): void {
  const parent = realpathSync(tmpdir());
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const pid = Number(/^(\d+)-\w{6}$/.exec(name.slice(temporaryPrefix.length))?.[1]);
    // In a container a host has the process id of the one before it.
    if (pid === process.pid || (pid > 0 && !isRunning(pid))) removeIfPossible(join(parent, name));
  }
}

/**
 * A folder that cannot be removed must not keep the host from its work: any user may make one of such a name, and what a
 * killed process started may still write into its own. It is tried again at the next start.
 */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It stays.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function confine({ folder, path, uid, allow }: ConfinementWish): Confinement {
  const tempDir = mkdtempSync(join(realpathSync(tmpdir()), `${temporaryPrefix}${process.pid}-`));
  const mayChoose = process.getuid?.() === 0;
  const isReadable = [path, join(import.meta.dirname, '../../sdk/deployed.ts'), process.execPath].every(
    isOpenToAll,
  );
  const user = mayChoose && isReadable ? { uid, gid: uid } : undefined;
  if (user !== undefined) chownSync(tempDir, user.uid, user.gid);
  return {
    flags: [
      '--permission',
      // A thread renews the leases.
      '--allow-worker',
      ...[folder, ...kitFolders].map((one) => `--allow-fs-read=${realpathSync(one)}/`),
      `--allow-fs-read=${tempDir}/`,
      `--allow-fs-write=${tempDir}/`,
      ...allow.map((one) => `--allow-${one}`),
      '--disable-warning=SecurityWarning',
    ],
    user,
    tempDir,
    end: () => removeIfPossible(tempDir),
  };
}

/** Whether every user may read the file, which requires access to all folders above it. */
function isOpenToAll(path: string): boolean {
  const file = realpathSync(path);
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
