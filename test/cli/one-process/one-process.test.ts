import { expect, test } from 'vitest';
import { commandLine } from '../support.ts';

const { runSdp, startSdp } = commandLine();

test.each([
  [['--version'], ''],
  [['sessions', '--help'], ''],
  [['nowhere', '--json'], ''],
  [['manifests', 'validate', '-'], 'no document'],
  [['projects', 'list'], ''],
])('%j prints and ends in the process of other commands as in its own', async (args, input) => {
  const environment = { SDP_URL: 'http://127.0.0.1:1', SDP_TOKEN: 'hat_nobody' };
  const alone = await startSdp(args, environment, input).ended;
  expect(await runSdp(args, environment, input)).toEqual(alone);
});
