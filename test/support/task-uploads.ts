/** Uploads of a task in parts, as a runner sends them; and the rows and objects that they leave. */
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Database } from '../../store/connection/database.ts';
import { objectSettings } from '../../store/objects/object-store.ts';
import { ObjectStores } from '../../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../../store/objects/pending-objects.ts';
import { sweepTaskUploads } from '../../store/runs/sweep-task-uploads.ts';
import { type Answer, ask } from './api.ts';
import { s3Client } from './bucket.ts';
import type { TestEnvironment } from './stack.ts';

type SentBytes = string | Uint8Array | ReadableStream;

export interface TaskUploads {
  start(taskId: string, headers?: Record<string, string>): Promise<Answer>;
  /** Starts and returns the handle; throws for anything but 201. */
  begin(taskId: string, headers?: Record<string, string>): Promise<string>;
  put(
    taskId: string,
    handle: string,
    part: number | string,
    bytes: SentBytes,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  complete(taskId: string, handle: string, headers?: Record<string, string>): Promise<Answer>;
  abort(taskId: string, handle: string): Promise<Answer>;
}

/** @param url of the server */
export function taskUploads(url: string, token: string, instanceId: string): TaskUploads {
  const own = { 'x-platform-runner-instance': instanceId };
  const base = (taskId: string) => `/api/v2/runner/tasks/${taskId}/outputs/uploads`;
  const start: TaskUploads['start'] = (taskId, headers = {}) =>
    ask(url, 'POST', base(taskId), { token, headers: { ...own, ...headers } });
  return {
    start,
    async begin(taskId, headers) {
      const answer = await start(taskId, headers);
      if (answer.status !== 201) throw new Error(`start: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.handle;
    },
    async put(taskId, handle, part, bytes, headers = {}) {
      const response = await fetch(`${url}${base(taskId)}/${handle}/parts/${part}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, ...own, ...headers },
        body: bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes,
        ...(bytes instanceof ReadableStream ? { duplex: 'half' } : {}),
      } as RequestInit);
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    complete: (taskId, handle, headers = {}) =>
      ask(url, 'POST', `${base(taskId)}/${handle}/complete`, { token, headers: { ...own, ...headers } }),
    abort: (taskId, handle) => ask(url, 'DELETE', `${base(taskId)}/${handle}`, { token, headers: own }),
  };
}

/** Tables whose rows change with time and not by what was done: every API asks about creators of tokens each 15 seconds. */
const restless = new Set(['platform_process', 'runner_instance', 'runner_token_creator']);

/** Every row of every table of the platform, as one text. */
export async function allRows(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const rows = await Promise.all(
    tables
      .filter(({ name }) => !restless.has(name))
      .map(async ({ name }) => ({
        name,
        // A name of PostgreSQL's catalogue, not a caller's text.
        rows: await database.queryUnprepared(`select t::text as row from "${name}" t order by 1`),
      })),
  );
  return JSON.stringify(rows, null, 1);
}

/** Objects with their tags, and unfinished multi-part uploads. */
export async function bucketContents(
  platform: TestEnvironment,
): Promise<{ readonly objects: readonly string[]; readonly uploads: readonly string[] }> {
  const s3 = s3Client(platform.environment);
  try {
    const { bucket: Bucket } = platform.s3;
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
    const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
    return {
      objects: (Contents ?? []).map(({ Key, ETag }) => `${Key} ${ETag}`).sort(),
      uploads: (Uploads ?? []).map(({ Key, UploadId }) => `${Key} ${UploadId}`).sort(),
    };
  } finally {
    s3.destroy();
  }
}

/** What the worker's sweeper does in time: first uploads whose task ended, then unfinished objects. */
export async function sweepAll(platform: TestEnvironment, database: Database): Promise<void> {
  const stores = new ObjectStores(objectSettings.parse(platform.environment));
  try {
    while ((await sweepTaskUploads(database, stores)) > 0);
    for (let found = 1; found > 0; ) {
      const swept = await sweepAbandonedObjects(database, stores, { olderThanSeconds: 0 });
      if (swept.failed > 0) throw new Error('A deletion failed.');
      found = swept.abandoned + swept.deleted;
    }
  } finally {
    stores.close();
  }
}
