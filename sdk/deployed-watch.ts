/**
 * The thread of a deployed runner that notices the end of its host: it asks the runner to end, and ends the process
 * after the grace time.
 */
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { hostLine, killAfterMs } = workerData as { readonly hostLine: number; readonly killAfterMs: number };

const line = new Socket({ fd: hostLine, readable: true, writable: false });
line.on('error', () => undefined);
line.once('close', () => {
  parentPort?.postMessage('gone');
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), killAfterMs);
});
line.resume();
