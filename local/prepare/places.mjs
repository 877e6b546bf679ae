// Plain JavaScript for Node 20 without dependencies: this runs before any package is installed.
import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout this file belongs to. */
export const checkout = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

const extension = process.platform === 'win32' ? '.exe' : '';

/** The folder that outlives a checkout: built servers stand here, so that a second clone starts in seconds. */
export function cacheRoot() {
  const base =
    process.env.XDG_CACHE_HOME ||
    (process.platform === 'win32' ? process.env.LOCALAPPDATA : undefined) ||
    join(homedir(), '.cache');
  return join(base, 'simulation-data-platform');
}

/** Where the servers built from local/tools stand; the name changes with their versions and the platform. */
export function toolsCache() {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(checkout, 'local/tools', name)));
  hash.update(`${process.platform}-${process.arch}`);
  return join(cacheRoot(), hash.digest('hex').slice(0, 16));
}

/** The file name of a program on this platform. */
export function programName(name) {
  return `${name}${extension}`;
}

/** The full path of a program on PATH, or undefined. */
export function onPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const candidate = join(folder, programName(name));
    if (isProgram(candidate)) return candidate;
  }
  return undefined;
}

/** True when the path is a file that may be executed. */
export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
