/** A listening API with one node to upload to, and a client that sends bytes in any way a caller may. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll } from 'vitest';
import { nodeInstanceRoutes } from '../../../api/node-instances/routes.ts';
import { resumableUploadRoutes } from '../../../api/resumable-uploads/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import type { Database, Queryable } from '../../../store/connection/database.ts';
import { startTestApi, tokenOf } from '../../support/api.ts';
import { s3Client } from '../../support/bucket.ts';
import { type Graph, makeGraph } from '../../support/graph.ts';
import { testEnvironment } from '../../support/stack.ts';

export type Sent = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  json(): unknown;
};

/** Starts everything for a test file. */
export async function uploadWorld(extra: Record<string, string> = {}) {
  const platform = await testEnvironment();
  const api = await startTestApi(
    { ...platform.environment, ...extra },
    {
      routes: [...sessionRoutes, ...nodeInstanceRoutes, ...resumableUploadRoutes],
    },
  );
  const database: Database = api.composed.services.database;
  const token = await tokenOf(api.url, platform.administrator.username, platform.administrator.password);
  const client = s3Client(platform.environment);
  afterAll(async () => {
    client.destroy();
    await api.stop();
  });

  /** A session with an input node that names the data source `platform`, and one child. */
  async function makeNode(
    configuration = '{"dataSourceName":"platform"}',
  ): Promise<Graph & { nodeId: number }> {
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      { name: 'child', parents: ['input'] },
    ]);
    const nodeId = graph.nodes.input!;
    await database.query('update node_instance set configuration = $2 where id = $1', [
      nodeId,
      configuration,
    ]);
    return { ...graph, nodeId };
  }

  /** One request over a separate connection. A stream without a Content-Length goes chunked. */
  function send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Buffer | Readable,
  ): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        api.url + path,
        { method, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } },
        (response) => {
          buffer(response).then(
            (bytes) =>
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                bytes,
                json: () => JSON.parse(bytes.toString()) as unknown,
              }),
            reject,
          );
        },
      );
      request.on('error', reject);
      if (body instanceof Readable) body.on('error', () => request.destroy()).pipe(request);
      else request.end(body);
    });
  }

  const upload = (
    nodeId: number | string,
    body: Buffer | Readable,
    headers: Record<string, string> = {},
  ): Promise<Sent> => send('POST', `/api/v2/node-instance/${nodeId}/outputs/data`, headers, body);

  /** The objects in the bucket and the rows that refer to them. */
  async function leftovers() {
    const objects = await client.send(new ListObjectsV2Command({ Bucket: platform.s3.bucket }));
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: platform.s3.bucket }));
    const [counts] = await database.query<{ outputs: number; pending: number; deletions: number }>(
      `select (select count(*) from node_output) as outputs, (select count(*) from pending_object) as pending,
              (select count(*) from object_deletion) as deletions`,
    );
    return { objects: objects.KeyCount ?? 0, uploads: uploads.Uploads?.length ?? 0, ...counts };
  }

  return { platform, api, database, token, client, makeNode, send, upload, leftovers };
}

/** Bytes in pieces, without a length. */
export function chunked(bytes: Buffer, pieceBytes = 40_000): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    })(),
    { objectMode: false },
  );
}

/** Values that change when something is published or planned. */
export async function standingOf(database: Queryable, sessionId: string) {
  const [row] = await database.query(
    `select newest_position, desired_version, (select count(*) from node_run r where r.session_id = s.id) as runs,
            (select array_agg(last_processed order by id) from node_instance n where n.session_id = s.id) as processed
       from session s where id = $1`,
    [sessionId],
  );
  return row;
}

/** Publishes outputs `many-1`, `many-2` and so on at the next positions, as rows alone. */
export async function publishRows(
  database: Queryable,
  { nodeId, sessionId, count }: { nodeId: number; sessionId: string; count: number },
): Promise<void> {
  await database.query(
    `insert into node_output (session_id, node_instance_id, position, data_source_id, object_key, output_identifier,
                              size_bytes, etag, configuration)
     select s.id, n.id, s.newest_position + place, d.id, 'outputs/' || place, 'many-' || place, 1, 'etag', n.configuration
       from session s, node_instance n, data_source d, generate_series(1, $3::int) place
      where s.id = $2 and n.id = $1 and d.name = 'platform'`,
    [nodeId, sessionId, count],
  );
  await database.query(
    `with s as (update session set newest_position = newest_position + $3 where id = $2 returning newest_position)
     update node_instance n set newest_position = s.newest_position from s where n.id = $1`,
    [nodeId, sessionId, count],
  );
}
