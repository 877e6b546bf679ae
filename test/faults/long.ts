/**
 * Campaigns that run small within the suite, at their full length: `npm run campaign:claims`, `npm run campaign:calls`,
 * `npm run soak`, `npm run soak:api`. How long they are is an argument or a variable: `npm run campaign:claims -- 20000`, or
 * CAMPAIGN_CALLS=20000.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onEnd } from '../../local/parent.ts';
import { checkout } from '../../local/settings.ts';

const campaigns: Readonly<Record<string, { file: string; variable: string; size: string }>> = {
  claims: { file: 'test/faults/claims/claim-campaign.test.ts', variable: 'CAMPAIGN_CALLS', size: '50000' },
  calls: { file: 'test/api/generated/generated.test.ts', variable: 'GENERATED_RUNS', size: '300' },
  'soak:api': { file: 'test/faults/soak/api-soak.test.ts', variable: 'SOAK_API_PERCENT', size: '100' },
  soak: { file: 'test/faults/soak/soak.test.ts', variable: 'SOAK_MINUTES', size: '10' },
};

const campaign = campaigns[process.argv[2] ?? ''];
if (campaign === undefined) throw new Error(`Name one of: ${Object.keys(campaigns).join(', ')}.`);
const { file, variable, size } = campaign;
const vitest = join(checkout, 'node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', file], {
  cwd: checkout,
  stdio: 'inherit',
  env: { ...process.env, [variable]: process.argv[3] ?? process.env[variable] ?? size },
});
// It stops its servers on SIGINT; on other signals it would leave them.
onEnd(() => child.kill('SIGINT'));
child.on('exit', (code) => process.exit(code ?? 1));
