import {
  importTemplate,
  Runner,
  register,
  runnerTokenClient,
  type Task,
  upload,
} from '../support/outside-runner.ts';
import { startBenchPlatform } from '../support/platform.ts';
import { createSession } from '../support/sessions.ts';
import type { Peer } from './peer.ts';

const nodeTemplate = 'peer-node';

/** This platform: an output is an object of its own in the store, with its row, before the run is completed. */
export async function startPlatform(): Promise<Peer> {
  const platform = await startBenchPlatform();
  const { client, stack } = platform;
  await register(client, nodeTemplate);
  const runnerClient = await runnerTokenClient(platform, nodeTemplate);
  const runners = new Map<string, Runner>();
  const tasks = new Map<string, Task>();
  const runnerOf = (worker: string) => {
    const runner = runners.get(worker) ?? new Runner(runnerClient, nodeTemplate);
    runners.set(worker, runner);
    return runner;
  };
  return {
    name: 'this platform',
    settings: 'PostgreSQL, Temporal on a file and versitygw, as `npm start` runs them; JSON over HTTP/1.1',
    async graph(width, length) {
      const template = await importTemplate(client, nodeTemplate, width, length);
      return async () => await upload(client, (await createSession(client, template, 'input')).inputId);
    },
    async claim(worker, waitSeconds) {
      const task = await runnerOf(worker).claim(waitSeconds);
      if (task === undefined) return undefined;
      tasks.set(task.taskId, task);
      return { id: task.taskId, of: task.sessionId };
    },
    async complete(worker, { id }, output) {
      const task = tasks.get(id)!;
      tasks.delete(id);
      if (output !== null) await runnerOf(worker).writeOutput(task, output);
      await runnerOf(worker).complete(task, output === null ? 'no-output' : 'completed');
    },
    pids: () => [
      ...['api', 'worker'].map((name) => platform.pid(name)),
      ...[stack.postgres, stack.temporal, stack.objectStore].map((server) => server?.pid ?? 0),
    ],
    stop: () => platform.stop(),
  };
}
