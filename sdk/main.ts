#!/usr/bin/env node
/** `sdp-runner <module>`: runs the runner that a module exports by default, until SIGTERM or SIGINT. */
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRunner, runMain } from './index.ts';

/** Compiled, all files end in .js. */
const kitEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const usage = `Usage: sdp-runner <module>
Runs the runner that the module exports by default: export default defineRunner({ templates, run }).
SDP_URL            the platform's base address
SDP_RUNNER_TOKEN   a runner token (hrt_...)
SDP_RUNNER_CONCURRENCY, SDP_RUNNER_INSTANCE, SDP_RUNNER_WAIT_SECONDS, SDP_RUNNER_GRACE_SECONDS, SDP_RUNNER_LOG
                   see StartOptions`;

const [file, ...others] = process.argv.slice(2);
if (file === undefined || others.length > 0 || file === '--help' || file === '-h') {
  console.error(usage);
  process.exit(file === '--help' || file === '-h' ? 0 : 1);
}
// A runner in a folder of its own needs no packages: the kit that runs it is the kit that it imports.
registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== '@simulation-data-platform/runner') return nextResolve(specifier, context);
    try {
      return nextResolve(specifier, context);
    } catch {
      return nextResolve(new URL(`./index${kitEnding}`, import.meta.url).href, context);
    }
  },
});

const module: { readonly default?: unknown } = await import(pathToFileURL(resolve(file)).href);
if (!isRunner(module.default)) {
  console.error(`${file} does not export a runner by default.`);
  process.exit(1);
}
await runMain(module.default);
