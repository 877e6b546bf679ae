/** A virtual environment with the Python package, installed from the wheel that one command builds. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasProcess } from '../support/processes.ts';

export const packageFolder = fileURLToPath(new URL('../../sdk/python/', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const installMs = 600_000;

export type PythonEnvironment =
  | { readonly python: string; readonly missing: '' }
  /** Why there is none. */
  | { readonly python: undefined; readonly missing: string };

/**
 * Libraries are installed once for each list of them, and the package once for each state of its sources. Test files
 * that need it at the same moment wait for the first.
 */
export function pythonEnvironment(): PythonEnvironment {
  const version = run('python3', ['-c', 'import sys; print(*sys.version_info[:2])']).stdout.trim();
  const [major = 0, minor = 0] = version.split(' ').map(Number);
  if (major !== 3 || minor < 10) return none('there is no python3 of version 3.10 or newer');
  const libraries = digestOf([join(packageFolder, 'pyproject.toml')], version).slice(0, 16);
  const folder = join(cache, `python-${libraries}`);
  return alone(`${folder}.lock`, () => installed(folder));
}

const none = (missing: string) => ({ python: undefined, missing });

function installed(folder: string): PythonEnvironment {
  const python = join(folder, 'bin', 'python');
  const stamp = join(folder, 'complete');
  const sources = digestOf(sourceFiles());
  const before = existsSync(stamp) ? readFileSync(stamp, 'utf8') : null;
  if (before === sources) return { python, missing: '' };
  const wheels = mkdtempSync(join(tmpdir(), 'sdp-wheel-'));
  try {
    const built = run('python3', ['-m', 'pip', 'wheel', '-q', '--no-deps', '-w', wheels, packageFolder]);
    if (built.status !== 0) return none(`the package cannot be built: ${lastLine(built.stderr)}`);
    const wheel = join(wheels, readdirSync(wheels)[0] ?? '');
    if (before === null) {
      rmSync(folder, { recursive: true, force: true });
      run('python3', ['-m', 'venv', folder]);
    }
    const what = before === null ? [`${wheel}[dev]`] : ['--no-deps', '--force-reinstall', wheel];
    const done = run(python, ['-m', 'pip', 'install', '-q', ...what]);
    if (done.status !== 0) return none(`it cannot be installed: ${lastLine(done.stderr)}`);
    writeFileSync(stamp, sources);
    return { python, missing: '' };
  } finally {
    rmSync(wheels, { recursive: true, force: true });
  }
}

function sourceFiles(): string[] {
  const entries = readdirSync(join(packageFolder, 'src'), { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'));
  return [
    join(packageFolder, 'pyproject.toml'),
    ...sources.map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

function digestOf(files: readonly string[], salt = ''): string {
  const hash = createHash('sha256').update(salt);
  for (const file of [...files].sort()) hash.update(`${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** Runs the work while no other process of the checkout does. The lock of a process that was killed counts for nothing. */
function alone<T>(lock: string, work: () => T): T {
  mkdirSync(dirname(lock), { recursive: true });
  while (!isAcquired(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAcquired(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
  const holder = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0;
  if (holder > 0 && !hasProcess(holder)) rmSync(lock, { force: true });
  return false;
}

function run(program: string, args: readonly string[]) {
  const done = spawnSync(program, args, { encoding: 'utf8', timeout: installMs });
  return { status: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? '';
