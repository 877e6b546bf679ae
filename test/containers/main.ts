/** `npm run test:containers`: docker-compose.yml without a container engine, and the chart without a cluster. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onEnd } from '../../local/parent.ts';
import { checkout } from '../../local/settings.ts';

/** What the script prints. All is built before the checks begin, which have a limit of time. */
function prepared(script: string): string {
  const args = [join(import.meta.dirname, script)];
  const { status, stdout } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) process.exit(1);
  return String(stdout);
}

prepared('../helm/prepare.mjs');
const programs = prepared('build.mjs');
const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
const config = join(import.meta.dirname, 'vitest.config.ts');
const child = spawn(process.execPath, [vitest, 'run', '--config', config, '--root', checkout], {
  cwd: checkout,
  stdio: 'inherit',
  env: { ...process.env, CONTAINER_PROGRAMS: programs },
});
onEnd(() => child.kill('SIGINT'));
child.on('exit', (code) => process.exit(code ?? 1));
