/** The requests of tus 1.0.0, written by hand. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type Sent, uploadWorld } from '../node-instances/support.ts';

const pieceType = { 'content-type': 'application/offset+octet-stream' };
const version = { 'tus-resumable': '1.0.0' };
export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
export const mebibyte = 1024 * 1024;

/** `Upload-Metadata` of these values. */
export function metadataOf(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(
    ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
  );
  return pairs.join(',');
}

export async function tusWorld(extra: Record<string, string> = {}) {
  const world = await uploadWorld(extra);
  const { send, database } = world;

  const begin = (
    nodeId: number | string,
    sizeBytes: number,
    headers: Record<string, string> = {},
    body?: Buffer | Readable,
  ): Promise<Sent> =>
    send(
      'POST',
      `/api/v2/node-instance/${nodeId}/uploads`,
      { ...version, 'upload-length': String(sizeBytes), ...headers },
      body,
    );

  /** Begins an upload. @returns its path */
  async function begun(nodeId: number, sizeBytes: number, metadata: Record<string, string> = {}) {
    const named = Object.keys(metadata).length === 0 ? {} : { 'upload-metadata': metadataOf(metadata) };
    const { status, headers, bytes } = await begin(nodeId, sizeBytes, named);
    if (status !== 201) throw new Error(`${status}: ${bytes}`);
    return headers.location!;
  }

  const piece = (
    path: string,
    offset: number,
    bytes: Buffer | Readable,
    headers: Record<string, string> = {},
  ): Promise<Sent> =>
    send('PATCH', path, { ...version, ...pieceType, 'upload-offset': String(offset), ...headers }, bytes);

  const head = (path: string): Promise<Sent> => send('HEAD', path, version);
  const offsetOf = async (path: string) => Number((await head(path)).headers['upload-offset']);
  const terminate = (path: string): Promise<Sent> => send('DELETE', path, version);

  /** The node's outputs and their bytes, oldest first. */
  async function outputsOf(nodeId: number) {
    const list = (await send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json();
    return Array.isArray(list) ? (list as OutputSeen[]) : [];
  }
  const bytesOf = async (outputId: number) =>
    (await send('GET', `/api/v2/node-instance/outputs/${outputId}/data`)).bytes;

  /** As if a day had passed. */
  const expire = () =>
    database.query(
      `update resumable_upload set expires_at = clock_timestamp(), sweep_at = clock_timestamp()`,
    );

  return { ...world, begin, begun, piece, head, offsetOf, terminate, outputsOf, bytesOf, expire };
}

interface OutputSeen {
  readonly id: number;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly metadata: unknown;
}
