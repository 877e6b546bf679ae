/** A virtual environment with the Python package, installed from the wheel that one command builds. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageFolder = fileURLToPath(new URL('../../sdk/python/', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const installMs = 600_000;

export type PythonEnvironment =
  | { readonly python: string; readonly missing: '' }
  /** Why there is none. */
  | { readonly python: undefined; readonly missing: string };

/** Libraries are installed once for each list of them, the package itself every time. */
export function pythonEnvironment(): PythonEnvironment {
  const none = (missing: string) => ({ python: undefined, missing });
  const version = run('python3', ['-c', 'import sys; print(*sys.version_info[:2])']).stdout.trim();
  const [major = 0, minor = 0] = version.split(' ').map(Number);
  if (major !== 3 || minor < 10) return none('there is no python3 of version 3.10 or newer');
  const wheels = mkdtempSync(join(tmpdir(), 'sdp-wheel-'));
  try {
    const built = run('python3', ['-m', 'pip', 'wheel', '-q', '--no-deps', '-w', wheels, packageFolder]);
    if (built.status !== 0) return none(`the package cannot be built: ${lastLine(built.stderr)}`);
    const wheel = join(wheels, readdirSync(wheels)[0] ?? '');
    const project = readFileSync(join(packageFolder, 'pyproject.toml'));
    const digest = createHash('sha256').update(project).update(version).digest('hex').slice(0, 16);
    const folder = join(cache, `python-${digest}`);
    const python = join(folder, 'bin', 'python');
    const stamp = join(folder, 'complete');
    if (!existsSync(stamp)) {
      rmSync(folder, { recursive: true, force: true });
      run('python3', ['-m', 'venv', folder]);
      const installed = run(python, ['-m', 'pip', 'install', '-q', `${wheel}[dev]`]);
      if (installed.status !== 0)
        return none(`its libraries cannot be installed: ${lastLine(installed.stderr)}`);
      writeFileSync(stamp, '');
    }
    const again = ['-m', 'pip', 'install', '-q', '--no-deps', '--force-reinstall', wheel];
    const installed = run(python, again);
    return installed.status === 0 ? { python, missing: '' } : none(lastLine(installed.stderr));
  } finally {
    rmSync(wheels, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[]) {
  const done = spawnSync(program, args, { encoding: 'utf8', timeout: installMs });
  return { status: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? '';
