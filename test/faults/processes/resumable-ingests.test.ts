/** Resumable uploads to managed ingests while processes are killed: the ingest is performed once, whoever finishes it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Upload } from 'tus-js-client';
import { describe, expect, test } from 'vitest';
import type { Failpoint } from '../../../store/connection/failpoint.ts';
import { eventually } from '../../support/eventually.ts';
import { openGate } from '../../support/network/gate.ts';
import { inputNode, templateFile } from '../../support/templates.ts';
import { expectOnlyReferredAfterSweep, faultWorld } from '../fault-world.ts';

const { platform, processes, database, api: living, client } = await faultWorld();
const sizeBytes = 9 * 1024 * 1024 + 7;

async function newIngest(creationBehaviour: string) {
  const template = await client.call('POST', '/api/v2/admin/session-templates', {
    ...templateFile(`inputs ${randomUUID()}`, [inputNode('laps')]),
  });
  const project = await client.call('POST', '/projects', { Title: 'Killed' });
  const urlPath = `killed/${randomUUID()}`;
  const { secret } = await client.call('POST', '/api/v2/admin/ingests', {
    urlPath,
    projectId: project.id,
    sessionTemplateId: template.id,
    inputNode: 'laps',
    creationBehaviour,
  });
  return { urlPath, secret: secret as string, projectId: project.id as number };
}
type Ingest = Awaited<ReturnType<typeof newIngest>>;

const madeBy = ({ projectId }: Ingest) =>
  database.query(
    `select s.id, array_agg(o.sha256) as files from session s left join node_output o on o.session_id = s.id
      where s.project_id = $1 group by s.id`,
    [projectId],
  );
const files = (bytes: Buffer) => [createHash('sha256').update(bytes).digest('hex')];

const places: [string, Failpoint][] = [
  ['after the last byte is stored', 'upload-whole'],
  ['after the store has assembled the object', 'multipart-completed'],
  ['before the commit of the session', 'upload-stored'],
  ['after the commit of the session', 'ingest-fed'],
];

describe.each(['NewSession', 'LatestSession'])('an API process is killed, ingest of %s', (behaviour) => {
  test.each(places)('%s: the caller goes on at another one', async (_place, failpoint) => {
    const ingest = await newIngest(behaviour);
    const api = await processes.startApi({ failpoint });
    const gate = await openGate(api.url);
    const bytes = randomBytes(sizeBytes);
    const done = new Promise<void>((resolve, reject) => {
      new Upload(bytes, {
        endpoint: `${gate.url}/api/v2/ingest-uploads/${ingest.urlPath}`,
        headers: { 'x-ingest-secret': ingest.secret },
        metadata: { identifier: 'lap-1' },
        retryDelays: Array(400).fill(100),
        onShouldRetry: () => true,
        onSuccess: () => resolve(),
        onError: reject,
      }).start();
    });
    expect(await api.ended).toBe('SIGKILL');
    gate.leadTo(living.url);
    await done;
    expect(await madeBy(ingest)).toMatchObject([{ files: files(bytes) }]);
    await gate.close();
  });
});

describe('all bytes are in, the API process is killed, and the caller never returns', () => {
  /** Sends it once, to a process that dies. */
  async function abandoned(failpoint: Failpoint, bytes: Buffer): Promise<Ingest> {
    const ingest = await newIngest('NewSession');
    const api = await processes.startApi({ failpoint });
    const headers = {
      'tus-resumable': '1.0.0',
      'x-ingest-secret': ingest.secret,
      'upload-length': String(bytes.length),
      ...(bytes.length === 0 ? {} : { 'content-type': 'application/offset+octet-stream' }),
    };
    const body = bytes.length === 0 ? {} : { body: new Uint8Array(bytes) };
    const uploads = `${api.url}/api/v2/ingest-uploads/${ingest.urlPath}`;
    await fetch(uploads, { method: 'POST', headers, ...body }).catch(() => undefined);
    expect(await api.ended).toBe('SIGKILL');
    return ingest;
  }

  test('workers perform each ingest once', async () => {
    const bytes = [randomBytes(sizeBytes), randomBytes(5_000), randomBytes(5_000), Buffer.alloc(0)];
    const points = ['upload-whole', 'multipart-completed', 'upload-stored', 'upload-whole'] as const;
    const ingests = await Promise.all(points.map((point, index) => abandoned(point, bytes[index]!)));
    const workers = await Promise.all([
      processes.startWorker('workflows'),
      processes.startWorker('workflows'),
    ]);
    for (const [index, ingest] of ingests.entries()) {
      await eventually('it is performed', async () => (await madeBy(ingest)).length > 0);
      expect(await madeBy(ingest)).toMatchObject([{ files: files(bytes[index]!) }]);
    }
    const audited = await database.query(
      `select distinct actor_kind from audit_entry where action = 'ingestFile' and actor_kind = 'platform'`,
    );
    expect(audited).toHaveLength(1);
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
  });
});

test('after all faults and a sweep the store has only referenced objects', async () => {
  await expectOnlyReferredAfterSweep(platform, database, living.composed.services.objects);
});
