/** Resumable uploads while processes are killed and servers restart: each is there once and whole. */
import { createHash, randomBytes } from 'node:crypto';
import { Upload } from 'tus-js-client';
import { describe, expect, test } from 'vitest';
import type { Failpoint } from '../../../store/connection/failpoint.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { openGate } from '../../support/network/gate.ts';
import type { ApiProcess } from '../../support/processes.ts';
import { expectOnlyReferredAfterSweep, faultWorld } from '../fault-world.ts';
import { outsideChain } from '../http-runner.ts';

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
      eventually('bytes are acknowledged', async () => reached.offset >= atLeast),
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
    ['after the last byte is stored', 'upload-whole'],
    ['after the store has assembled the object', 'multipart-completed'],
    ['before the commit of the output', 'upload-stored'],
    ['after the commit of the output', 'upload-committed'],
  ] as [string, Failpoint][])('%s', async (_place, failpoint) => {
    const api = await processes.startApi({ failpoint });
    const gate = await openGate(api.url);
    const upload = await uploading(gate.url);
    expect(await api.ended).toBe('SIGKILL');
    gate.leadTo(living.url);
    await upload.done;
    await upload.expectOnce();
    await gate.close();
  });

  test('between pieces and within them, five times', async () => {
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

describe('all bytes are in, the API process is killed, and the caller never returns', () => {
  const tus = { authorization: `Bearer ${client.token}`, 'tus-resumable': '1.0.0' };

  /** Sends it once, to a process that dies; begun elsewhere, because an empty one is finished when it begins. */
  async function abandoned(failpoint: Failpoint, bytes: Buffer) {
    const graph = await outsideChain(database, 0);
    const nodeId = graph.nodes.input!;
    const api = await processes.startApi({ failpoint });
    const uploads = `${api.url}/api/v2/node-instance/${nodeId}/uploads`;
    const body = bytes.length === 0 ? {} : { body: new Uint8Array(bytes) };
    const type = bytes.length === 0 ? {} : { 'content-type': 'application/offset+octet-stream' };
    const headers = { ...tus, ...type, 'upload-length': String(bytes.length) };
    await fetch(uploads, { method: 'POST', headers, ...body }).catch(() => undefined);
    expect(await api.ended).toBe('SIGKILL');
    return nodeId;
  }

  async function outputsOf(nodeId: number) {
    const path = `/api/v2/node-instance/${nodeId}/outputs`;
    const { status, body } = await ask(living.url, 'GET', path, { token: client.token });
    // The list of a node without outputs is answered as a node that is missing.
    return status === 404 ? [] : body;
  }

  const freeze = (nodeId: number, at: 'clock_timestamp()' | 'null') =>
    database.query(
      `update session set frozen_at = ${at} where id = (select session_id from node_instance where id = $1)`,
      [nodeId],
    );

  test('workers make each output once; that of a frozen session when it is open again', async () => {
    const places: [Failpoint, Buffer][] = [
      ['upload-whole', randomBytes(sizeBytes)],
      ['multipart-completed', randomBytes(5_000)],
      ['upload-stored', randomBytes(5_000)],
      ['upload-whole', Buffer.alloc(0)],
    ];
    const [frozen, ...nodes] = await Promise.all([
      abandoned('upload-whole', randomBytes(5_000)),
      ...places.map(([failpoint, bytes]) => abandoned(failpoint, bytes)),
    ]);
    await freeze(frozen, 'clock_timestamp()');
    const workers = await Promise.all([
      processes.startWorker('workflows'),
      processes.startWorker('workflows'),
    ]);
    for (const [index, nodeId] of nodes.entries()) {
      const [failpoint, bytes] = places[index]!;
      await eventually('the output is there', async () => (await outputsOf(nodeId)).length > 0);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await outputsOf(nodeId), failpoint).toMatchObject([{ sizeBytes: bytes.length, sha256 }]);
      const audited = await database.query(
        `select actor_kind, actor_id is not null as is_known from audit_entry
          where action = 'uploadNodeOutput' and object_id = $1`,
        [String(nodeId)],
      );
      expect(audited, failpoint).toEqual([{ actorKind: 'platform', isKnown: true }]);
    }
    const isForgotten = `coalesce(writer_seen_at, created_at) < clock_timestamp() - interval '20 s'`;
    await eventually(
      'it waits for longer than a worker does',
      () =>
        database
          .query(`select 1 from resumable_upload where node_instance_id = $1 and ${isForgotten}`, [frozen])
          .then(({ length }) => length > 0),
      60_000,
    );
    expect(await outputsOf(frozen)).toEqual([]);
    await freeze(frozen, 'null');
    await eventually('the output is there', async () => (await outputsOf(frozen)).length === 1);
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
  });
});

describe('servers restart during an upload', () => {
  for (const [name, part] of [
    ['the database', postgres!],
    ['the object store', objectStore!],
  ] as const) {
    test(`${name}: what was acknowledged stays, and the upload goes on`, async () => {
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
  await expectOnlyReferredAfterSweep(platform, database, living.composed.services.objects);
});
