// Builds one program of the checks from the Go module of its release, into a folder that outlives the checkout.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../local/prepare/file-lock.mjs';
import { cacheRoot, checkout, isProgram, programName } from '../../local/prepare/places.mjs';
import { say, withProgress } from '../../local/prepare/progress.mjs';
import { run } from '../../local/prepare/run.mjs';

const tools = join(checkout, 'test/containers/tools');

/** The options of `go` in the module of a tool, whatever the environment sets. */
export function goOptions(module) {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' };
  return { cwd: join(tools, module), env };
}

/** The folder of what comes from a module; its name changes with versions, sources, build tags and platform. */
export function toolFolder({ module, tags = '' }) {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}${tags}`);
  for (const file of ['go.mod', 'go.sum', 'main.go']) {
    const path = join(tools, module, file);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return join(cacheRoot(), `containers-${hash.digest('hex').slice(0, 16)}`);
}

/** @returns the path of the program */
export async function buildTool(name, { module, package: path, tags = '' }) {
  const folder = toolFolder({ module, tags });
  const target = join(folder, programName(name));
  mkdirSync(folder, { recursive: true });
  await withFileLock(
    join(folder, 'build.lock'),
    async () => {
      if (isProgram(target)) return;
      const temporary = `${target}.${process.pid}.partial`;
      try {
        await withProgress(`Building ${name} (once for this machine, some minutes)`, () =>
          run(
            'go',
            ['build', '-trimpath', '-ldflags=-s -w', `-tags=${tags}`, '-o', temporary, path],
            goOptions(module),
          ),
        );
        renameSync(temporary, target);
      } finally {
        rmSync(temporary, { force: true });
      }
    },
    (pid) => say(`Another check (process ${pid}) is building ${name}; waiting for it ...`),
  );
  return target;
}
