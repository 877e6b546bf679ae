/**
 * `node deployed.ts <module> <instance id> <grace seconds>`: a runner as the platform's host of deployed runners starts
 * it, with `SDP_URL` and `SDP_RUNNER_TOKEN` for its whole environment. Descriptor 3 is a line to the host: it is told
 * what becomes of the runner, and when the host is gone the runner ends.
 */
import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { startRunner } from './index.ts';
import { messageOf } from './src/errors.ts';
import { loadRunner } from './src/runner/load.ts';

const hostLine = 3;
const messageCharacters = 1_000;
/** What the kit takes after the grace at the most: then the process is ended from without. */
const afterGraceSeconds = 10;

const [file = '', instanceId = '', graceText = ''] = process.argv.slice(2);
const graceSeconds = Number(graceText);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort()).on('SIGINT', () => stop.abort());
process.on('uncaughtExceptionMonitor', (error) => report('failed', messageOf(error)));
// Nobody reads what is written once the host is gone; that is no reason to give nothing back.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
watchHost();

try {
  const runner = await loadRunner(file).catch((error) => {
    console.error(error);
    throw new Error(`${basename(file)} cannot be loaded: ${messageOf(error)}`);
  });
  report('loaded');
  const options = { instanceId, graceSeconds, signal: stop.signal };
  const running = await startRunner(runner, options);
  report('ready');
  await running.ended;
} catch (error) {
  // Told to stop before it had begun.
  if (error !== stop.signal.reason) {
    report('failed', messageOf(error));
    console.error(messageOf(error));
    process.exit(1);
  }
}
process.exit(0);

/** One line of JSON. A host that is gone hears nothing. */
function report(kind: 'loaded' | 'ready' | 'failed', message = ''): void {
  try {
    writeSync(hostLine, `${JSON.stringify({ kind, message: message.slice(0, messageCharacters) })}\n`);
  } catch {
    // The thread that watches the host sees to the end of this process.
  }
}

/** In a thread of its own: a runner that computes without a pause must not outlive its host either. */
function watchHost(): void {
  const watch = new Worker(new URL('./deployed-watch.ts', import.meta.url), {
    name: 'host',
    workerData: { hostLine, killAfterMs: (graceSeconds + afterGraceSeconds) * 1_000 },
    execArgv: [],
  });
  watch.unref();
  watch.on('message', () => stop.abort());
  // Without it the end of the host would go unseen.
  watch.on('error', () => stop.abort());
}
