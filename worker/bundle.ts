/** The workflow code as one bundle; kept in a folder under a hash of its sources, because making it takes seconds. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = join(import.meta.dirname, '..');
const entry = join(root, 'workflows', 'all.ts');
const writer = join(import.meta.dirname, 'write-bundle.ts');
const interceptors = join(root, 'workflows', 'trace-interceptors.ts');

/**
 * The bundle's code, from the folder when it holds the one of these sources. Else a process of its own makes it there:
 * what that takes, 90 MB, would stay with the worker as long as it runs.
 */
export async function workflowBundle(cacheDir?: string): Promise<{ code: string }> {
  if (!cacheDir) return bundle();
  const path = pathIn(cacheDir);
  if (!existsSync(path)) await promisify(execFile)(process.execPath, [writer, cacheDir]);
  return { code: readFileSync(path, 'utf8') };
}

/** Makes the bundle in the folder unless it is there; several processes may do so at once. */
export async function writeBundle(cacheDir: string): Promise<void> {
  const path = pathIn(cacheDir);
  if (existsSync(path)) return;
  const { code } = await bundle();
  mkdirSync(cacheDir, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, code);
  renameSync(`${path}.${process.pid}`, path);
  removeOld(cacheDir);
}

/** A process of another version may be about to read a bundle that is newer. */
const keptDays = 7;

/** Bundles of earlier sources, and what a killed process left of one. */
function removeOld(cacheDir: string): void {
  for (const file of readdirSync(cacheDir).filter((name) =>
    /^workflows-[0-9a-f]{32}\.js(\.\d+)?$/.test(name),
  )) {
    const path = join(cacheDir, file);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > keptDays * 86_400_000) rmSync(path, { force: true });
  }
}

const pathIn = (cacheDir: string) => join(cacheDir, `workflows-${sourcesHash()}.js`);

function bundle() {
  const quiet = () => {};
  const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  return bundleWorkflowCode({ workflowsPath: entry, workflowInterceptorModules: [interceptors], logger });
}

/** The files that the bundle may be made of, relative to the checkout. */
export function bundleSources(): string[] {
  return ['workflows', 'domain'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .sort(),
  );
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  hash.update(createRequire(import.meta.url)('@temporalio/workflow/package.json').version);
  for (const file of bundleSources()) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 32);
}
