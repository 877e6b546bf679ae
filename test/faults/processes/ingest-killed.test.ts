/** Queued ingestion under kill -9: every acknowledged upload arrives, once and in order, and nothing else stays. */
import { describe, expect, test } from 'vitest';
import { drained, publishedOf, queuedCount, queuedGraph } from '../../api/node-instances/queued-world.ts';
import { expectOnlyReferredObjects, faultWorld } from '../fault-world.ts';
import { HttpRunner } from '../http-runner.ts';

const apiFailpoints = ['upload-stored', 'upload-queued'] as const;
const workerFailpoints = ['ingest-packed', 'ingest-published'] as const;
const [apiWorlds, workerWorlds] = await Promise.all([
  Promise.all(apiFailpoints.map(() => faultWorld())),
  Promise.all(workerFailpoints.map(() => faultWorld())),
]);

describe.concurrent('nothing acknowledged is lost', () => {
  test.for(apiFailpoints.map((failpoint, index) => [failpoint, apiWorlds[index]!] as const))(
    'when the API is killed at %s, and a repeated upload is published once',
    async ([failpoint, world]) => {
      const { database, processes, temporal, api, client, platform } = world;
      const graph = await queuedGraph(database);
      const nodeId = graph.nodes.input!;
      const sender = new HttpRunner(api.url, client.token);
      expect((await sender.upload(nodeId, 'before')).status).toBe(202);
      const dying = await processes.startApi({ failpoint });
      const unheard = await new HttpRunner(dying.url, client.token)
        .upload(nodeId, 'broken')
        .catch(() => undefined);
      expect(unheard).toBeUndefined();
      expect(await dying.ended).toBe('SIGKILL');
      expect(await queuedCount(database)).toBe(failpoint === 'upload-queued' ? 2 : 1);
      expect((await sender.upload(nodeId, 'broken')).status).toBe(202);
      expect((await sender.upload(nodeId, 'after')).status).toBe(202);
      await temporal.startWorker('workflows');
      await drained(database);
      const published = await publishedOf(database, nodeId);
      expect(published.map(({ identifier }) => identifier)).toEqual(['before', 'broken', 'after']);
      await expectOnlyReferredObjects(platform, database);
    },
  );

  test.for(workerFailpoints.map((failpoint, index) => [failpoint, workerWorlds[index]!] as const))(
    'when the worker is killed at %s',
    async ([failpoint, world]) => {
      const { database, processes, temporal, api, client, platform } = world;
      const graph = await queuedGraph(database);
      const nodeId = graph.nodes.input!;
      const sender = new HttpRunner(api.url, client.token);
      const names = Array.from({ length: 20 }, (_, index) => `u${index}`);
      for (const name of names) expect((await sender.upload(nodeId, name, name)).status).toBe(202);
      const dying = await processes.startWorker('workflows', { failpoint });
      expect(await dying.ended).toBe('SIGKILL');
      await temporal.startWorker('workflows');
      await drained(database);
      const published = await publishedOf(database, nodeId);
      expect(published.map(({ identifier }) => identifier)).toEqual(names);
      const last = await client.call('GET', `/api/v2/node-instance/outputs/${published.at(-1)!.id}/data`);
      expect(last).toBe('u19');
      await expectOnlyReferredObjects(platform, database);
    },
  );
});
