/** `npm run test:containers`: docker-compose.yml without a container engine. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onEnd } from '../../local/parent.ts';
import { checkout } from '../../local/settings.ts';

const built = spawnSync(process.execPath, [join(import.meta.dirname, 'build.mjs')], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (built.status !== 0) process.exit(1);
const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
const config = join(import.meta.dirname, 'vitest.config.ts');
const child = spawn(process.execPath, [vitest, 'run', '--config', config, '--root', checkout], {
  cwd: checkout,
  stdio: 'inherit',
  env: { ...process.env, CONTAINER_PROGRAMS: String(built.stdout) },
});
onEnd(() => child.kill('SIGINT'));
child.on('exit', (code) => process.exit(code ?? 1));
