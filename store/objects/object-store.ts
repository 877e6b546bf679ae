/** Bytes in S3-compatible stores. Keys are made of our own ids; no text of a caller is in one. */
import { createWriteStream } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { newId } from '../connection/ids.ts';
import type { Reach } from '../connection/reach.ts';
import { whileBytesFlow } from './buffer-garbage.ts';
import { openClient } from './client.ts';
import type { S3Access } from './data-sources.ts';
import { DirectPuts } from './direct-put.ts';
import { answeredInTime, httpStatusOf, ObjectStoreError, toObjectStoreError, WrongSize } from './errors.ts';
import type { MultipartPlace } from './multipart.ts';
import { reasonOf, type SourceOptions, type StoredBytes, withIntake } from './source.ts';
import { StagingArea } from './staging-area.ts';
import { uploadObject } from './upload.ts';

export { isStoreAway, ObjectStoreError } from './errors.ts';
export { ObjectTooLarge, SourceBroken } from './intake.ts';
export { type ObjectVariables, objectSettings } from './settings.ts';

const shortCallMs = 30_000;

/** What objects hold: bytes of outputs, small ones together, files of scheduled reports. Each kind is a prefix of keys. */
export const objectKinds = ['outputs', 'bundles', 'reports'] as const;

/** A new key for the bytes of an output, or of another kind. */
export function newObjectKey(kind: (typeof objectKinds)[number]): string {
  return `${kind}/${newId()}`;
}

export const newOutputKey = (): string => newObjectKey('outputs');

export interface PutOptions extends SourceOptions {
  /** Length of the stream where it is known. */
  readonly declaredBytes?: number | null;
}

export interface PutResult extends StoredBytes {
  /** The store's, without quotes. */
  readonly etag: string;
}

/** The part of an object to read, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** When the object was stored; for one that was made of parts, when that began. */
  readonly modifiedAt: Date;
}

/** One bucket (and prefix) of one store. */
export class ObjectStore {
  readonly #client: S3Client;
  readonly #access: S3Access;
  readonly #direct: DirectPuts | undefined;
  readonly #staging: StagingArea;
  readonly #traits = { refusesTrailers: false };

  constructor(access: S3Access, staging: StagingArea, reach: Reach) {
    this.#client = openClient(access, reach);
    this.#direct = DirectPuts.to(access, reach);
    this.#access = access;
    this.#staging = staging;
  }

  /**
   * Stores a stream as an object, with flat memory whatever its length. The stream is not destroyed when this fails,
   * only no longer read.
   * @throws ObjectTooLarge, SourceBroken, StagingFull, ObjectStoreError; the signal's reason when it aborted. Nothing is left then,
   *   or what is left is found by `abortUploads` and `delete`.
   */
  async put(key: string, source: Readable, options: PutOptions): Promise<PutResult> {
    return await withIntake(source, { ...options, withCrc32: true }, async (intake) => {
      const { etag } = await uploadObject({
        client: this.#client,
        direct: this.#direct,
        traits: this.#traits,
        ...this.#at(key),
        declaredBytes: options.declaredBytes ?? null,
        intake,
        staging: this.#staging,
        signal: options.signal,
        caller: options.caller,
      });
      return { sizeBytes: intake.sizeBytes, etag, ...intake.digests() };
    });
  }

  /**
   * Opens an object or a part of it.
   * @returns `sizeBytes`: how many bytes the stream brings
   * @throws ObjectStoreError
   */
  async get(
    key: string,
    options: { readonly range?: ByteRange; readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number }> {
    if (options.range !== undefined && options.range.end < options.range.start) {
      return { stream: Readable.from([]), sizeBytes: 0 };
    }
    const { bucket: Bucket, key: Key } = this.#at(key);
    const Range = options.range && `bytes=${options.range.start}-${options.range.end}`;
    try {
      const command = new GetObjectCommand({ Bucket, Key, ...(Range === undefined ? {} : { Range }) });
      const result = await answeredInTime(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        options.signal,
      );
      const stream = result.Body as Readable;
      // A store may disconnect before the reader has begun; the reader then finds the stream destroyed.
      stream.on('error', () => undefined).once('close', whileBytesFlow());
      return { stream, sizeBytes: result.ContentLength ?? 0 };
    } catch (error) {
      if (options.signal?.aborted) throw reasonOf(options.signal);
      throw toObjectStoreError(error);
    }
  }

  /**
   * Writes an object, or a part of it, to a new file; a file that could not be finished is removed.
   * @throws ObjectStoreError, also when the store sends another number of bytes; what the file system throws
   */
  async download(
    key: string,
    path: string,
    options: {
      readonly range?: ByteRange;
      readonly signal?: AbortSignal;
      /** How many bytes the platform knows to be there: a store that another operates could send them without end. */
      readonly sizeBytes: number | undefined;
      /** Called for each chunk that came. */
      readonly onChunk?: (chunk: Buffer) => void;
    },
  ): Promise<void> {
    const { stream } = await this.get(key, options);
    const { onChunk, signal, sizeBytes } = options;
    const wrongSize = (received: number, wanted: number) =>
      new ObjectStoreError('failed', 200, new WrongSize(received, wanted));
    let received = 0;
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (sizeBytes !== undefined && received > sizeBytes) stream.destroy(wrongSize(received, sizeBytes));
      onChunk?.(chunk);
    });
    try {
      const file = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: 1024 * 1024 });
      await pipeline(stream, file, signal === undefined ? {} : { signal });
      if (sizeBytes !== undefined && received < sizeBytes) throw wrongSize(received, sizeBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await unlink(path).catch(() => undefined);
      throw error;
    }
  }

  /** Removes an object; a missing one counts as removed. @throws ObjectStoreError */
  async delete(key: string, abortSignal = AbortSignal.timeout(shortCallMs)): Promise<void> {
    const { bucket: Bucket, key: Key } = this.#at(key);
    try {
      await this.#client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal });
    } catch (error) {
      const failure = toObjectStoreError(error);
      if (failure.kind !== 'missing') throw failure;
    }
  }

  /** @throws ObjectStoreError when the store does not answer */
  async exists(key: string): Promise<boolean> {
    const { bucket: Bucket, key: Key } = this.#at(key);
    try {
      await this.#client.send(new HeadObjectCommand({ Bucket, Key }), shortCall());
      return true;
    } catch (error) {
      const failure = toObjectStoreError(error);
      if (failure.kind === 'missing') return false;
      throw failure;
    }
  }

  /** Where an object of parts is made: see multipart.ts. */
  multipart(key: string): MultipartPlace {
    return { client: this.#client, ...this.#at(key), staging: this.#staging };
  }

  /** Aborts unfinished multi-part uploads of exactly this key, of which only the key is known. @throws ObjectStoreError */
  async abortUploads(key: string, abortSignal?: AbortSignal): Promise<void> {
    const { bucket: Bucket, key: Key } = this.#at(key);
    const call = () => ({ abortSignal: abortSignal ?? AbortSignal.timeout(shortCallMs) });
    try {
      const { Uploads } = await this.#client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: Key }),
        call(),
      );
      for (const upload of Uploads ?? []) {
        if (upload.Key !== Key || upload.UploadId === undefined) continue;
        const command = new AbortMultipartUploadCommand({ Bucket, Key, UploadId: upload.UploadId });
        await this.#client.send(command, call());
      }
    } catch (error) {
      // A store that cannot list them has none that we could remove.
      if (httpStatusOf(error) === 501 || httpStatusOf(error) === 404) return;
      throw toObjectStoreError(error);
    }
  }

  /**
   * One page of the objects whose keys begin with `prefix`, in the order of their keys.
   * @param after the last key of the page before
   * @returns `next`: the last key of this page when there may be more
   * @throws ObjectStoreError
   */
  async list(
    prefix: string,
    after: string | null,
  ): Promise<{ readonly objects: readonly ListedObject[]; readonly next: string | null }> {
    const { bucket: Bucket, key: Prefix } = this.#at(prefix);
    const before = Prefix.length - prefix.length;
    const StartAfter = after === null ? {} : { StartAfter: this.#at(after).key };
    try {
      const { Contents = [], IsTruncated } = await this.#client.send(
        new ListObjectsV2Command({ Bucket, Prefix, ...StartAfter }),
        shortCall(),
      );
      const objects = Contents.map(({ Key = '', Size = 0, LastModified }) => ({
        key: Key.slice(before),
        sizeBytes: Size,
        modifiedAt: LastModified ?? new Date(),
      }));
      return { objects, next: IsTruncated === true ? (objects.at(-1)?.key ?? null) : null };
    } catch (error) {
      throw toObjectStoreError(error);
    }
  }

  /** Resolves when the bucket answers. @throws ObjectStoreError */
  async probe(signal: AbortSignal = AbortSignal.timeout(shortCallMs)): Promise<void> {
    try {
      await this.#client.send(new HeadBucketCommand({ Bucket: this.#access.bucket }), {
        abortSignal: signal,
      });
    } catch (error) {
      // What is missing is no object.
      throw new ObjectStoreError('failed', httpStatusOf(error), error);
    }
  }

  /** Frees the connections; requests under way fail. */
  close(): void {
    this.#client.destroy();
    this.#direct?.close();
  }

  #at(key: string): { bucket: string; key: string } {
    return objectAt(this.#access, key);
  }
}

/** Bucket and whole key of an object of a store. */
export function objectAt(access: S3Access, key: string): { bucket: string; key: string } {
  const prefix = access.prefix.replace(/^\/+|\/+$/g, '');
  return { bucket: access.bucket, key: prefix === '' ? key : `${prefix}/${key}` };
}

/** A store that the environment names, wherever it is. */
export function openObjectStore(
  access: S3Access,
  staging = new StagingArea(),
  reach: Reach = { inside: true },
): ObjectStore {
  return new ObjectStore(access, staging, reach);
}

function shortCall(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(shortCallMs) };
}
