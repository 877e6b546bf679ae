import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { withFileLock } from './file-lock.mjs';
import { checkout } from './places.mjs';
import { say, withProgress } from './progress.mjs';
import { run } from './run.mjs';

const web = join(checkout, 'web');
const dist = join(web, 'dist');
const NOT_SOURCES = new Set(['dist', 'node_modules']);

/** Builds the web console into web/dist when its sources, what it shares with other clients, or the packages changed since. */
export async function buildConsole(nodeProgram) {
  if (!existsSync(join(web, 'index.html'))) return;
  if (isBuilt(sourceHash())) return;
  await withFileLock(
    join(checkout, 'node_modules', '.console.lock'),
    async () => {
      const hash = sourceHash();
      if (isBuilt(hash)) return;
      const temporary = join(web, 'dist.partial');
      rmSync(temporary, { recursive: true, force: true });
      await withProgress('Building the web console', () =>
        run(
          nodeProgram,
          [
            join(checkout, 'node_modules/vite/bin/vite.js'),
            'build',
            '--outDir',
            'dist.partial',
            '--logLevel',
            'warn',
          ],
          // Also when NODE_ENV says otherwise: a build for development is larger, and names the lines of its sources.
          { cwd: web, env: { ...process.env, NODE_ENV: 'production' } },
        ),
      );
      writeFileSync(join(temporary, '.stamp'), hash);
      // Swapped in one step, so that a running server never sees half a console.
      rmSync(dist, { recursive: true, force: true });
      renameSync(temporary, dist);
    },
    (pid) => say(`Another command (process ${pid}) is building the web console; waiting for it ...`),
  );
}

function isBuilt(hash) {
  const stamp = join(dist, '.stamp');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
}

function sourceHash() {
  const hash = createHash('sha256').update(readFileSync(join(checkout, 'package-lock.json')));
  for (const file of [...sources(web), ...sources(join(checkout, 'client'))])
    hash
      .update(`${relative(web, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

function* sources(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (NOT_SOURCES.has(entry.name) || entry.name === 'dist.partial') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.isFile()) yield path;
  }
}
