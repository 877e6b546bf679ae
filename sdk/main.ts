#!/usr/bin/env node
/** `sdp-runner <module>`: runs the runner that a module exports by default, until SIGTERM or SIGINT. */
import { type Runner, runMain } from './index.ts';
import { loadRunner, NoRunnerError } from './src/runner/load.ts';

const usage = `Usage: sdp-runner <module>
Runs the runner that the module exports by default: export default defineRunner({ templates, run }).
SDP_URL            the platform's base address
SDP_RUNNER_TOKEN   a runner token (hrt_...)
SDP_RUNNER_CONCURRENCY, SDP_RUNNER_INSTANCE, SDP_RUNNER_WAIT_SECONDS, SDP_RUNNER_GRACE_SECONDS, SDP_RUNNER_LOG,
SDP_RUNNER_TEMPLATE_SUFFIX
                   see Settings in the README of the kit
SDP_REPLAY_CASE    work on the saved case of this folder instead of claiming; outputs go to SDP_REPLAY_OUT`;

const [file, ...others] = process.argv.slice(2);
if (file === undefined || others.length > 0 || file === '--help' || file === '-h') {
  console.error(usage);
  process.exit(file === '--help' || file === '-h' ? 0 : 1);
}
await runMain(await load(file));

/** The module's own errors pass unchanged; a module without a runner is a usage error. */
async function load(path: string): Promise<Runner> {
  try {
    return await loadRunner(path);
  } catch (error) {
    if (!(error instanceof NoRunnerError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
