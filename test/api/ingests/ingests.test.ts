import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { crc32 } from '../../../domain/access/token-format.ts';
import { ask } from '../../support/api.ts';
import { s3Client } from '../../support/bucket.ts';
import { testEnvironment } from '../../support/stack.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { drained } from '../node-instances/queued-world.ts';
import { administrationTests } from './ingest-administration.ts';
import { ingests, ingestWorld, refused } from './ingest-world.ts';

const platform = await testEnvironment();
const temporal = await testWorkflows(platform.environment);
const world = await ingestWorld(platform);
const { api, admin, database, newIngest, newProject, people, projectId, send, templateId } = world;
afterAll(() => world.stop());

administrationTests(world);

describe('a file sent to an ingest', () => {
  test('creates a session owned by its creator and becomes an output of the input node', async () => {
    const { urlPath, secret } = await newIngest();
    const answer = await send(urlPath, {
      bearer: secret,
      headers: { 'x-platform-output-identifier': 'lap-1' },
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'ok' } });
    const { sessionId, nodeInstanceId, nodeOutputId } = answer.body;
    const session = (await admin('GET', `/api/v2/sessions/${sessionId}`)).body;
    expect(session).toMatchObject({
      projectId,
      sessionTemplateId: templateId,
      userId: people.Developer.userId,
      email: people.Developer.email,
      name: expect.stringMatching(/^Laps \d{4}-/),
    });
    const progress = (await admin('GET', `/api/v2/session/${sessionId}/node-instances`)).body.nodeInstances;
    expect(progress).toMatchObject([
      { id: nodeInstanceId, name: 'laps', state: 'Succeeded', currentOutputId: nodeOutputId },
      { name: 'table', state: 'Pending' },
    ]);
    const outputs = (await admin('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`)).body;
    expect(outputs).toMatchObject([{ id: nodeOutputId, outputIdentifier: 'lap-1', contentType: 'text/csv' }]);
    const data = await ask(api.url, 'GET', `/api/v2/node-instance/outputs/${nodeOutputId}/data`, {
      token: people.Trainee.token,
    });
    expect(data.body).toBe('a,b\n1,2\n');
    const next = await send(urlPath, { secret });
    expect(next.body.sessionId).not.toBe(sessionId);
  });

  test('may be a form, whose type comes back as it was sent', async () => {
    const type = 'multipart/form-data; boundary="a \\"b\\""';
    const { urlPath, secret } = await newIngest({ ingestDataType: 'Any' });
    const answer = await send(urlPath, { secret, type });
    expect(answer.status).toBe(201);
    const outputs = await admin('GET', `/api/v2/node-instance/${answer.body.nodeInstanceId}/outputs`);
    expect(outputs.body).toMatchObject([{ contentType: type }]);
  });

  test('needs the secret, unless the ingest allows anonymous uploads', async () => {
    const { urlPath, secret } = await newIngest();
    const other = await newIngest();
    const message = refused('A valid ingest secret is required.');
    for (const given of [
      {},
      { secret: 'his_nonsense' },
      { secret: other.secret },
      { bearer: other.secret },
      { bearer: people.Administrator.token },
      { secret: `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}` },
    ]) {
      const answer = await send(urlPath, given);
      expect(answer).toMatchObject({ status: 401, body: message });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const open = await newIngest({ allowAnonymous: true });
    expect((await send(open.urlPath)).status).toBe(201);
    expect((await send(open.urlPath, { secret: open.secret })).status).toBe(201);
    expect((await send(open.urlPath, { secret })).status).toBe(401);
    expect(crc32('123456789')).toBe(0xcbf43926);
  });

  test('an unknown path is 404, another method 405', async () => {
    for (const path of ['nowhere', 'a/b/c/d/e/f/g/h/i', 'UPPER', '%00'])
      expect(await send(path)).toMatchObject({ status: 404, body: refused('Ingest not found.') });
    const answer = await ask(api.url, 'GET', '/ingest/nowhere');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  test('must be of the data type', async () => {
    const types: [string, (string | null)[], (string | null)[]][] = [
      [
        'Csv',
        ['text/csv', 'TEXT/CSV; charset=utf-8', 'application/csv'],
        ['application/json', 'text/plain', null],
      ],
      [
        'Json',
        ['application/json', 'application/x-ndjson', 'application/geo+json'],
        ['text/csv', 'text/plain', null],
      ],
      [
        'Binary',
        ['application/octet-stream', 'application/vnd.apache.parquet', 'image/png', null],
        [
          'text/csv',
          'application/json',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'nonsense',
        ],
      ],
      ['Any', ['text/csv', 'text/plain', 'nonsense', null], []],
    ];
    for (const [ingestDataType, covered, others] of types) {
      const { urlPath, secret } = await newIngest({ ingestDataType });
      for (const type of covered)
        expect([ingestDataType, type, (await send(urlPath, { secret, type })).status]).toEqual([
          ingestDataType,
          type,
          201,
        ]);
      for (const type of others)
        expect([ingestDataType, type, (await send(urlPath, { secret, type })).status]).toEqual([
          ingestDataType,
          type,
          415,
        ]);
    }
  });

  test('feeds the newest session that is neither frozen nor closed, or creates exactly one', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const first = await Promise.all(Array.from({ length: 12 }, () => send(urlPath, { secret })));
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 201));
    const ids = new Set(first.map(({ body }) => body.sessionId));
    expect(ids.size).toBe(1);
    const [made] = ids;
    const newer = (await admin('POST', '/session', { ProjectId: own, SessionTemplateId: templateId })).body
      .id;
    expect((await send(urlPath, { secret })).body.sessionId).toBe(newer);
    expect((await admin('POST', `/api/v2/sessions/${newer}/freeze`)).status).toBe(200);
    expect((await send(urlPath, { secret })).body.sessionId).toBe(made);
    expect(
      (
        await ask(api.url, 'POST', `/api/v2/session/${made}/close`, {
          token: people.Administrator.token,
          json: {},
        })
      ).status,
    ).toBe(200);
    const next = (await send(urlPath, { secret })).body.sessionId;
    expect([made, newer]).not.toContain(next);
    expect((await send(urlPath, { secret })).body.sessionId).toBe(next);
  });

  test('with an identifier that the node has gives that output new bytes', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const headers = { 'x-platform-output-identifier': 'same' };
    const first = await send(urlPath, { secret, headers });
    const second = await send(urlPath, { secret, headers, body: 'new' });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
  });

  const csv = 'a,b\n1,2\n';
  const named = { 'x-platform-output-identifier': 'lap-1' };
  const digest = createHash('sha256').update(csv).digest('base64');
  const lastByte = {
    'tus-resumable': '1.0.0',
    'content-type': 'application/offset+octet-stream',
    'upload-length': `${csv.length}`,
    'upload-metadata': `identifier ${btoa('lap-1')},contentType ${btoa('text/csv')}`,
  };
  const resumable = (urlPath: string, secret: string) =>
    fetch(`${api.url}/api/v2/ingest-uploads/${urlPath}`, {
      method: 'POST',
      headers: { ...lastByte, 'x-ingest-secret': secret },
      body: csv,
    });
  test.each([
    ['NewSession', 'without a digest', named],
    ['NewSession', 'with a digest', { ...named, 'x-amz-checksum-sha256': digest }],
    ['NewSession', 'resumable', undefined],
    ['LatestSession', 'without a digest', named],
    ['LatestSession', 'resumable', undefined],
  ])('brings back bytes that the store has lost (%s, %s)', async (creationBehaviour, _name, headers) => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour });
    const first = await send(urlPath, { secret, headers: named });
    const { nodeInstanceId, nodeOutputId } = first.body;
    const path = `/api/v2/node-instance/outputs/${nodeOutputId}/data`;
    const [output] = (await admin('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`)).body;
    const client = s3Client(platform.environment);
    await client.send(new DeleteObjectCommand({ Bucket: platform.s3.bucket, Key: output.dataPath }));
    client.destroy();
    const again = headers ? await send(urlPath, { secret, headers }) : await resumable(urlPath, secret);
    expect(again.status).toBeLessThan(300);
    expect((await admin('GET', path)).body).toBe(csv);
    const sessions = await database.query('select 1 from session where project_id = $1', [own]);
    expect(sessions).toHaveLength(1);
  });

  test('leaves no session when it is refused or interrupted', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own });
    expect(
      (await send(urlPath, { secret, headers: { 'content-md5': Buffer.alloc(16).toString('base64') } }))
        .status,
    ).toBe(400);
    expect((await send(urlPath, { secret, headers: { 'x-platform-output-identifier': 'a b' } })).status).toBe(
      400,
    );
    expect(await database.query('select 1 from session where project_id = $1', [own])).toEqual([]);
  });

  test.each([
    ['is deleted', 404, (path: string) => admin('DELETE', path)],
    ['gets another secret', 401, (path: string) => admin('POST', `${path}/rotate-secret`)],
  ])('is refused when its ingest %s while it comes, and leaves no session', async (_, status, change) => {
    const own = await newProject();
    const { id, urlPath, secret } = await newIngest({ projectId: own });
    const request = httpRequest(`${api.url}/ingest/${urlPath}`, {
      method: 'POST',
      headers: { 'x-ingest-secret': secret, 'content-type': 'text/csv', expect: '100-continue' },
    });
    const answer = once(request, 'response');
    request.flushHeaders();
    await once(request, 'continue');
    expect((await change(`${ingests}/${id}`)).status).toBeLessThan(300);
    request.end('a,b\n1,2\n');
    expect((await answer)[0].statusCode).toBe(status);
    expect(await database.query('select 1 from session where project_id = $1', [own])).toEqual([]);
  });

  test('in a queued project is acknowledged with 202 and published by the queue', async () => {
    const own = await newProject({ QueuedIngestion: true });
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const answers = [];
    for (let index = 0; index < 5; index++)
      answers.push(
        await send(urlPath, {
          secret,
          body: `${index}`,
          headers: { 'x-platform-output-identifier': `o${index}` },
        }),
      );
    const { sessionId, nodeInstanceId } = answers[0]!.body;
    for (const { status, body } of answers) {
      expect(status).toBe(202);
      expect(body).toEqual({
        status: 'queued',
        projectId: own,
        sessionId,
        nodeInstanceId,
        stream: 'node-ingest',
        subject: `projects.${own}.ingest`,
      });
    }
    await temporal.startWorker('workflows');
    await drained(database);
    const outputs = (await admin('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`)).body;
    expect(outputs.map(({ outputIdentifier }: { outputIdentifier: string }) => outputIdentifier)).toEqual(
      Array.from({ length: 5 }, (_, index) => `o${index}`),
    );
  });

  test("is stored in the ingest’s data source, despite the node's configuration", async () => {
    const { s3 } = platform;
    const source = await admin('POST', '/api/v2/admin/data-sources', {
      name: 'elsewhere',
      kind: 's3',
      endpoint: s3.endpoint,
      region: s3.region,
      bucket: s3.bucket,
      prefix: 'elsewhere',
      accessKeyId: s3.accessKeyId,
      secretAccessKey: s3.secretAccessKey,
      forcePathStyle: true,
    });
    expect(source.status).toBe(201);
    const { urlPath, secret, id } = await newIngest({ dataSource: 'elsewhere' });
    const { body } = await send(urlPath, { secret });
    const outputs = (await admin('GET', `/api/v2/node-instance/${body.nodeInstanceId}/outputs`)).body;
    expect(outputs[0].dataSource.name).toBe('elsewhere');
    // An ingest without uploads keeps its data source too.
    expect((await admin('DELETE', '/api/v2/admin/data-sources/elsewhere')).status).toBe(409);
    expect((await admin('GET', `${ingests}/${id}`)).body.dataSource).toBe('elsewhere');
  });
});
