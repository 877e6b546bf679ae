// Builds what the checks of docker-compose.yml and ops/ run beside the platform: the compose specification's own loader,
// the proxy, Temporal's server with its schema tool, and Prometheus' checker of rules and configuration, from the Go
// modules of their releases. Prints where they are.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../local/prepare/file-lock.mjs';
import { cacheRoot, checkout, isProgram, onPath, programName } from '../../local/prepare/places.mjs';
import { PlainError, say, withProgress } from '../../local/prepare/progress.mjs';
import { run } from '../../local/prepare/run.mjs';

const tools = join(checkout, 'test/containers/tools');
const programs = {
  compose: { module: 'compose', package: '.' },
  caddy: { module: 'proxy', package: 'github.com/caddyserver/caddy/v2/cmd/caddy' },
  'temporal-sql-tool': { module: 'temporal', package: 'go.temporal.io/server/cmd/tools/sql' },
  'temporal-server': { module: 'temporal', package: 'go.temporal.io/server/cmd/server' },
  // Of the ways in which a server finds what to scrape, by names alone: the clients of clouds are most of its code.
  promtool: {
    module: 'prometheus',
    package: 'github.com/prometheus/prometheus/cmd/promtool',
    tags: 'remove_all_sd,enable_dns_sd',
  },
};

/** The folder outlives the checkout; its name changes with versions, sources, build tags and platform. */
function folderOf(module, tags) {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}${tags}`);
  const files = module === 'compose' ? ['go.mod', 'go.sum', 'main.go'] : ['go.mod', 'go.sum'];
  for (const file of files) hash.update(readFileSync(join(tools, module, file)));
  return join(cacheRoot(), `containers-${hash.digest('hex').slice(0, 16)}`);
}

async function build(name) {
  const { module, package: path, tags = '' } = programs[name];
  const folder = folderOf(module, tags);
  const target = join(folder, programName(name));
  mkdirSync(folder, { recursive: true });
  await withFileLock(
    join(folder, 'build.lock'),
    async () => {
      if (isProgram(target)) return;
      const temporary = `${target}.${process.pid}.partial`;
      try {
        await withProgress(`Building ${name} (once for this machine, some minutes)`, () =>
          run('go', ['build', '-trimpath', '-ldflags=-s -w', `-tags=${tags}`, '-o', temporary, path], {
            cwd: join(tools, module),
            env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
          }),
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

const paths = {};
try {
  if (onPath('go') === undefined) throw new PlainError('Go 1.26 or newer is needed to build the servers.');
  for (const name of Object.keys(programs)) paths[name] = await build(name);
  process.stdout.write(`${JSON.stringify(paths)}\n`);
} catch (error) {
  say(error instanceof PlainError ? error.message : (error.stack ?? String(error)));
  process.exit(1);
}
