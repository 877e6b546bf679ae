/** The thread of a deployed runner that hears its host go: then the runner is told to end, and is ended after its time. */
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
