import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isSameProcess, processStart, withFileLock } from './file-lock.mjs';
import { cacheRoot, checkout } from './places.mjs';
import { PlainError, say, withProgress } from './progress.mjs';
import { run } from './run.mjs';

const stampFile = join(checkout, 'node_modules', '.installed');

/** Where this machine notes what goes on in this checkout: outside it, because installing empties node_modules. */
function notesFolder() {
  const name = createHash('sha256').update(checkout).digest('hex').slice(0, 16);
  return join(cacheRoot(), 'checkouts', name);
}

/** Installs the packages when package-lock.json differs from what stands in node_modules. */
export async function installPackages() {
  await installChanged();
  linkNode();
}

/** The packages of Node for all platforms have one program name: npm 10 removes its link with those that it leaves out. */
function linkNode() {
  const name = `node-${process.platform}-${process.arch}`;
  const link = join(checkout, 'node_modules', '.bin', 'node');
  if (!existsSync(join(checkout, 'node_modules', name, 'bin', 'node')) || existsSync(link)) return;
  mkdirSync(dirname(link), { recursive: true });
  try {
    symlinkSync(join('..', name, 'bin', 'node'), link);
  } catch (error) {
    // Another command has linked it meanwhile.
    if (error.code !== 'EEXIST') throw error;
  }
}

async function installChanged() {
  if (isInstalled()) return;
  await withFileLock(
    join(notesFolder(), 'install.lock'),
    async () => {
      if (isInstalled()) return;
      const pid = liveUse();
      if (pid !== undefined)
        throw new PlainError(
          `The packages have changed, but a start or test of this checkout is running (process ${pid}). ` +
            'Stop it first, then repeat this command to install them.',
        );
      await withProgress('Installing packages (npm ci)', () =>
        run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout, shell: process.platform === 'win32' }),
      );
      writeFileSync(stampFile, lockHash());
    },
    (pid) => say(`Another command (process ${pid}) is installing packages; waiting for it ...`),
  );
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(checkout, 'package-lock.json')))
    .digest('hex');
}

function isInstalled() {
  const stamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (stamp === lockHash()) return true;
  // After `npm install` or `npm ci` by hand: npm notes what it installed when it has ended.
  const notes = join(checkout, 'node_modules', '.package-lock.json');
  if (!existsSync(notes) || !isSameSet(readJson(join(checkout, 'package-lock.json')), readJson(notes)))
    return false;
  writeFileSync(stampFile, lockHash());
  return true;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Packages of other platforms are optional and absent; anything else must be there in the locked version. */
function isSameSet(wanted, installed) {
  const there = new Map(Object.entries(installed.packages ?? {}));
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (path === '') continue;
    const found = there.get(path);
    if (found === undefined) {
      if (entry.optional !== true) return false;
    } else if (found.version !== entry.version || found.integrity !== entry.integrity) return false;
    there.delete(path);
  }
  return there.size === 0;
}

/** Notes that this process uses the checkout, so that no other command replaces the packages under it. */
export function markLive() {
  const folder = notesFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `live-${process.pid}.json`);
  writeFileSync(file, JSON.stringify({ pid: process.pid, startTime: processStart(process.pid) }));
  process.on('exit', () => rmSync(file, { force: true }));
}

function liveUse() {
  const folder = notesFolder();
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('live-')) continue;
    const file = join(folder, name);
    let owner;
    try {
      owner = readJson(file);
    } catch {
      continue;
    }
    if (isSameProcess(owner)) {
      if (owner.pid !== process.pid) return owner.pid;
    } else rmSync(file, { force: true });
  }
  return undefined;
}
