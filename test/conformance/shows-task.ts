/** Writes what its first task is about to SEEN_FILE, and completes every task. */
import { writeFileSync } from 'node:fs';
import { Connection } from './reference-connection.ts';

const connection = new Connection('shows-task');
for (;;) {
  const body = { instanceId: 'shows-task', waitSeconds: 20 };
  const task = (await connection.json('POST', '/tasks/claim', body)) as
    | { readonly taskId: string; readonly configuration: unknown }
    | undefined;
  if (task === undefined) continue;
  const at = `/tasks/${task.taskId}`;
  const { inputs } = (await connection.json('GET', `${at}/inputs`)) as {
    readonly inputs: readonly { outputId: number }[];
  };
  const [input] = inputs;
  const bytes = await (await connection.open('GET', `${at}/inputs/${input?.outputId}/data`)).text();
  writeFileSync(
    process.env.SEEN_FILE ?? '',
    JSON.stringify({ configuration: task.configuration, input, bytes }),
  );
  await connection.json('PUT', `${at}/complete`, { outcome: 'no-output' });
}
