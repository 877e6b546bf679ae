// Builds what the checks of docker-compose.yml and ops/ run beside the platform: the compose specification's own loader,
// the proxy, Temporal's server with its schema tool, and Prometheus' checker of rules and configuration, from the Go
// modules of their releases. Prints where they are.
import { onPath } from '../../local/prepare/places.mjs';
import { PlainError, say } from '../../local/prepare/progress.mjs';
import { buildTool } from './build-tool.mjs';

const programs = {
  compose: { module: 'compose', package: '.' },
  caddy: { module: 'proxy', package: 'github.com/caddyserver/caddy/v2/cmd/caddy' },
  'temporal-sql-tool': { module: 'temporal', package: 'go.temporal.io/server/cmd/tools/sql' },
  'temporal-server': { module: 'temporal', package: 'go.temporal.io/server/cmd/server' },
  // It finds what to scrape by names alone, of all ways that a server has: the clients of clouds are most of its code.
  promtool: {
    module: 'prometheus',
    package: 'github.com/prometheus/prometheus/cmd/promtool',
    tags: 'remove_all_sd,enable_dns_sd',
  },
};

const paths = {};
try {
  if (onPath('go') === undefined) throw new PlainError('Go 1.26 or newer is needed to build the servers.');
  for (const [name, tool] of Object.entries(programs)) paths[name] = await buildTool(name, tool);
  process.stdout.write(`${JSON.stringify(paths)}\n`);
} catch (error) {
  say(error instanceof PlainError ? error.message : (error.stack ?? String(error)));
  process.exit(1);
}
