/**
 * `node deployed.ts <module> <instance id> <grace seconds>`: a runner as the platform's host of deployed runners starts
 * it, with `SDP_URL` and `SDP_RUNNER_TOKEN` for its whole environment. Descriptor 3 is a pipe to the host: it reports
 * the runner's state to the host, and when the host is gone the runner ends.
 */
import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { startRunner } from './index.ts';
import { messageOf } from './src/errors.ts';
import { ignoreClosedOutput, onUnhandledRejection } from './src/run-main.ts';
import { loadRunner } from './src/runner/load.ts';

const hostLine = 3;
const messageCharacters = 1_000;
/** The kit's longest time after the grace: then the process is ended from outside. */
const afterGraceSeconds = 10;

const [file = '', instanceId = '', graceText = ''] = process.argv.slice(2);
const graceSeconds = Number(graceText);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort()).on('SIGINT', () => stop.abort());
process.on('unhandledRejection', onUnhandledRejection);
process.on('uncaughtExceptionMonitor', (error) => report('failed', messageOf(error)));
// Writes fail once the host is gone; the runner must still release its tasks.
ignoreClosedOutput();
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
  // The stop came before the start was over.
  if (error !== stop.signal.reason) {
    report('failed', messageOf(error));
    console.error(messageOf(error));
    process.exit(1);
  }
}
process.exit(0);

/** Writes one line of JSON; it is lost when the host is gone. */
function report(kind: 'loaded' | 'ready' | 'failed', message = ''): void {
  try {
    writeSync(hostLine, `${JSON.stringify({ kind, message: message.slice(0, messageCharacters) })}\n`);
  } catch {
    // The thread that watches the host ends this process.
  }
}

/** In a separate thread, because a runner that computes without a pause must not outlive its host. */
function watchHost(): void {
  const watch = new Worker(new URL('./deployed-watch.ts', import.meta.url), {
    name: 'host',
    workerData: { hostLine, killAfterMs: (graceSeconds + afterGraceSeconds) * 1_000 },
    execArgv: [],
  });
  watch.unref();
  watch.on('message', () => stop.abort());
  // Without the thread the end of the host would not be noticed.
  watch.on('error', () => stop.abort());
}
