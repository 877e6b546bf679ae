/** Everything that the platform stores, as text: tables, objects, workflow histories. */
import { gunzipSync } from 'node:zlib';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { s3Client } from '../support/bucket.ts';
import type { TestEnvironment } from '../support/stack.ts';
import type { Place } from './canaries.ts';

/** Bytes as text in which a search finds what is written in them, packed or not. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  const isPacked = buffer[0] === 0x1f && buffer[1] === 0x8b;
  return (isPacked ? gunzipSync(buffer) : buffer).toString('utf8');
}

/** Every column of every table of every schema that is not PostgreSQL's own. */
export async function tablesOf(database: pg.Client): Promise<Place[]> {
  const { rows: tables } = await database.query<{ where: string; name: string }>(
    `select n.nspname || '.' || c.relname as where, format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
        and n.nspname not like 'pg_toast%' order by 1`,
  );
  const places: Place[] = [];
  for (const { where, name } of tables) {
    const { rows } = await database.query<{ row: string }>(`select t::text as row from ${name} t`);
    places.push({ where: `table ${where}`, text: rows.map(({ row }) => row).join('\n') });
  }
  const { rows: large } = await database.query<{ data: Buffer }>('select data from pg_largeobject');
  places.push({ where: 'large objects', text: large.map(({ data }) => textOf(data)).join('\n') });
  return places;
}

/** Keys, headers and bytes of all objects, and uploads in parts that are still open. */
export async function objectsOf(platform: TestEnvironment): Promise<Place[]> {
  const client = s3Client(platform.environment);
  const Bucket = platform.s3.bucket;
  try {
    const { Contents = [], IsTruncated } = await client.send(new ListObjectsV2Command({ Bucket }));
    if (IsTruncated) throw new Error('More objects than one page.');
    const open = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    const places = await Promise.all(Contents.map(({ Key = '' }) => objectOf(client, Bucket, Key)));
    return [...places.flat(), { where: 'uploads in parts', text: JSON.stringify(open.Uploads ?? []) }];
  } finally {
    client.destroy();
  }
}

/** Key, headers and bytes of an object; nothing of one that the worker removed after it was listed. */
async function objectOf(client: S3Client, Bucket: string, Key: string): Promise<Place[]> {
  try {
    const { $metadata: _, ...headers } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
    return [{ where: `object ${Key}`, text: [Key, JSON.stringify(headers), textOf(bytes)].join('\n') }];
  } catch (error) {
    if (error instanceof NotFound || error instanceof NoSuchKey) return [];
    throw error;
  }
}

/** Every workflow of the queues: its description (attributes, memo, summaries, heartbeats) and its whole history. */
export async function historiesOf(client: Client, taskQueue: string): Promise<Place[]> {
  const places: Place[] = [];
  for await (const found of client.workflow.list({ query: `TaskQueue = "${taskQueue}"` })) {
    const handle = client.workflow.getHandle(found.workflowId, found.runId);
    const [described, history] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    places.push({
      where: `workflow ${found.workflowId}`,
      text: [plain(found.raw), plain(described.raw), plain(history)].join('\n'),
    });
  }
  return places;
}

/** What an operator sees of a workflow now, including the last heartbeats of its pending activities. */
export async function descriptionOf(client: Client, workflowId: string): Promise<Place> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  return { where: `description of ${workflowId}`, text: plain(raw) };
}

/** As JSON in which payloads are text. */
function plain(message: unknown): string {
  return JSON.stringify(message, (key, value: unknown) => {
    if (value instanceof Uint8Array) return textOf(value);
    const bytes = value as { type?: string; data?: number[] } | null;
    if (bytes?.type === 'Buffer' && Array.isArray(bytes.data)) return textOf(Uint8Array.from(bytes.data));
    // Some messages write their payloads as base64 themselves.
    if (key === 'data' && typeof value === 'string') return textOf(Buffer.from(value, 'base64'));
    return typeof value === 'bigint' ? value.toString() : value;
  });
}
