/** Resumable uploads while processes are killed and servers restart: each is there once and whole. */
import { createHash, randomBytes } from 'node:crypto';
import { Upload } from 'tus-js-client';
import { describe, expect, test } from 'vitest';
import type { Failpoint } from '../../store/connection/failpoint.ts';
import { sweepResumableUploads } from '../../store/uploads/sweep-resumable-uploads.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { ApiProcess } from '../support/processes.ts';
import { expectOnlyReferredObjects, faultWorld } from './fault-world.ts';
import { outsideChain } from './http-runner.ts';

const { platform, processes, database, api: living, client } = await faultWorld({ ownStack: true });
const { postgres, objectStore } = platform.stack!;
const mebibyte = 1024 * 1024;
const sizeBytes = 24 * mebibyte + 7;
const slowly = { chunkSize: 3 * mebibyte };

/** An upload by tus-js-client, which tries again until it succeeds. */
async function uploading(url: string, options: { readonly chunkSize?: number } = {}) {
  const graph = await outsideChain(database, 0);
  const nodeId = graph.nodes.input!;
  const bytes = randomBytes(sizeBytes);
  const reached = { offset: 0 };
  const done = new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      endpoint: `${url}/api/v2/node-instance/${nodeId}/uploads`,
      headers: { authorization: `Bearer ${client.token}` },
      metadata: { identifier: 'lap-1' },
      retryDelays: Array(400).fill(100),
      onShouldRetry: () => true,
      onChunkComplete: (_size, offset) => {
        reached.offset = offset;
      },
      onSuccess: () => resolve(),
      onError: reject,
      ...options,
    }).start();
  });
  done.catch(() => undefined);
  return {
    done,
    reached,
    acknowledged: (atLeast: number) =>
      eventually('bytes are acknowledged', async () => reached.offset >= atLeast, 60_000),
    async expectOnce() {
      const list = await ask(living.url, 'GET', `/api/v2/node-instance/${nodeId}/outputs`, {
        token: client.token,
      });
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(list.body).toMatchObject([{ outputIdentifier: 'lap-1', sizeBytes, sha256 }]);
      const data = await fetch(`${living.url}/api/v2/node-instance/outputs/${list.body[0].id}/data`, {
        headers: { authorization: `Bearer ${client.token}` },
      });
      expect(Buffer.from(await data.arrayBuffer()).equals(bytes)).toBe(true);
    },
  };
}

/** The next process listens where the last one did. */
async function replaced(api: ApiProcess): Promise<ApiProcess> {
  await api.ended;
  return await processes.startApi({ port: api.port });
}

describe('an API process is killed', () => {
  test.each([
    ['after the store has assembled the object', 'multipart-completed'],
    ['before the commit of the output', 'upload-stored'],
    ['after the commit of the output', 'upload-committed'],
  ] as [string, Failpoint][])('%s', { timeout: 120_000 }, async (_place, failpoint) => {
    const api = await processes.startApi({ failpoint });
    const upload = await uploading(api.url);
    const next = await replaced(api);
    await upload.done;
    await upload.expectOnce();
    next.kill('SIGTERM');
  });

  test('between pieces and within them, five times', { timeout: 180_000 }, async () => {
    let api = await processes.startApi();
    const upload = await uploading(api.url, slowly);
    for (let kill = 1; kill <= 5; kill++) {
      await upload.acknowledged(kill * 3 * mebibyte);
      const before = upload.reached.offset;
      api.kill('SIGKILL');
      api = await replaced(api);
      await upload.acknowledged(Math.min(before + 1, sizeBytes));
    }
    await upload.done;
    await upload.expectOnce();
    api.kill('SIGTERM');
  });
});

describe('servers restart during an upload', () => {
  for (const [name, part] of [
    ['the database', postgres!],
    ['the object store', objectStore!],
  ] as const) {
    test(`${name}: what was acknowledged stays, and the upload goes on`, { timeout: 180_000 }, async () => {
      const upload = await uploading(living.url, slowly);
      await upload.acknowledged(6 * mebibyte);
      await part.stop();
      await part.start();
      await upload.done;
      await upload.expectOnce();
    });
  }
});

test('after all faults and a sweep the store has only referenced objects', async () => {
  await database.query(
    'update resumable_upload set expires_at = clock_timestamp(), sweep_at = clock_timestamp()',
  );
  const { objects } = living.composed.services;
  while ((await sweepResumableUploads(database, objects)) > 0);
  await database.query(`update pending_object set heartbeat_at = '-infinity'`);
  await expectOnlyReferredObjects(platform, database);
});
