/** Queued ingestion while its servers are killed, stopped and wiped: everything acknowledged arrives, in order. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { drained, publishedOf, queuedGraph } from '../../api/node-instances/queued-world.ts';
import { eventually } from '../../support/eventually.ts';
import { faultWorld } from '../fault-world.ts';
import { HttpRunner } from '../http-runner.ts';

const { platform, processes, database, api, client } = await faultWorld({ ownStack: true });
const { postgres, temporal, objectStore } = platform.stack!;

test('database, workflow engine, object store and worker restart in the middle of a drain', async () => {
  const graph = await queuedGraph(database, [
    { name: 'left', parents: [] },
    { name: 'right', parents: [] },
  ]);
  let worker = await processes.startWorker('workflows');
  const senders = 4;
  let sending = true;
  const acknowledged = Array.from({ length: senders }, () => [] as string[]);
  const sent = Promise.all(
    acknowledged.map(async (own, sender) => {
      const person = new HttpRunner(api.url, client.token);
      const nodeId = sender % 2 === 0 ? graph.nodes.left! : graph.nodes.right!;
      for (let index = 0; sending; index++) {
        const name = `${sender}.${index}`;
        // An upload without a good answer is not repeated: it may or may not be in the queue.
        const answer = await person.upload(nodeId, name, name).catch(() => undefined);
        if (answer?.status === 202) own.push(name);
        else await delay(100);
      }
    }),
  );
  const someMore = async () => {
    const before = acknowledged.map((own) => own.length);
    await eventually('uploads are acknowledged again', () =>
      acknowledged.every((own, index) => own.length >= before[index]! + 5),
    );
  };
  await someMore();
  postgres!.kill('SIGKILL');
  await postgres!.untilReady();
  await someMore();
  await temporal!.stop();
  await someMore();
  worker.kill('SIGKILL');
  await temporal!.start();
  worker = await processes.startWorker('workflows');
  objectStore!.kill('SIGKILL');
  await objectStore!.untilReady();
  await someMore();
  await temporal!.wipe();
  await someMore();
  sending = false;
  await sent;
  await drained(database);

  for (const [sender, own] of acknowledged.entries()) {
    const nodeId = sender % 2 === 0 ? graph.nodes.left! : graph.nodes.right!;
    const published = (await publishedOf(database, nodeId)).filter(({ identifier }) =>
      identifier.startsWith(`${sender}.`),
    );
    const names = published.map(({ identifier }) => identifier);
    expect(new Set(names).size).toBe(names.length);
    const numbers = names.map((name) => Number(name.split('.')[1]));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(names).toEqual(expect.arrayContaining(own));
    for (const { id, identifier } of published.slice(0, 3)) {
      const bytes = await client.call('GET', `/api/v2/node-instance/outputs/${id}/data`);
      expect(bytes).toBe(identifier);
    }
  }
});
