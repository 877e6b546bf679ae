/** Serving stored bytes: ranges, conditional requests, gzip, and headers that keep a browser from running them. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import parseRange from 'range-parser';
import { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { safeMediaType } from '../headers.ts';
import { booleanParameter, textHeader } from '../schemas.ts';

/** The most characters of a suggested file name: file systems hold 255 bytes. */
const nameCharacters = 200;

/** Both ends inclusive, as in HTTP and S3. */
export type ByteRange = { readonly start: number; readonly end: number };

export type Download = {
  /** The request's headers, by lower-case name. */
  readonly requestHeaders: Readonly<Record<string, string | undefined>>;
  readonly sizeBytes: number;
  /** Without quotes (a SHA-256, or the store's own tag); null for none. */
  readonly etag: string | null;
  /** As stored; anything that is no media type is sent as application/octet-stream. */
  readonly contentType: string | null;
  /** `gzip` when the stored bytes are compressed. */
  readonly contentEncoding: string | null;
  /** Suggested name of the file; characters that do not belong in one are replaced. */
  readonly fileName?: string;
  /** Opens the stored bytes, all of them or one range. */
  readonly open: (range: ByteRange | null) => Promise<Readable>;
};

export type DownloadReply =
  | {
      readonly status: 200;
      readonly stream: () => Promise<Readable>;
      readonly headers: Record<string, string>;
    }
  | {
      readonly status: 206;
      readonly stream: () => Promise<Readable>;
      readonly headers: Record<string, string>;
    }
  | { readonly status: 304; readonly headers: Record<string, string> };

/** Request headers of a route that serves bytes, for the reference; `serveBytes` reads them itself. */
export const downloadHeaders = z.object({
  range: textHeader('One range of bytes. Several ranges or an invalid one get all bytes.', 'bytes=0-1023'),
  'if-range': textHeader(
    'Send the range only if the bytes still have this tag, else all bytes.',
    '"2a584f50"',
  ),
  'if-none-match': textHeader("Tags of the caller's copies: 304 when one is current.", '"2a584f50"'),
  'accept-encoding': textHeader('Whether bytes stored as gzip may be sent unchanged.', 'gzip'),
});

const tagHeaders = {
  etag: 'Tag of these bytes: their SHA-256 as stored, else the tag of the store.',
  'cache-control': 'Cache rules of the bytes.',
} as const;
const byteHeaders = {
  ...tagHeaders,
  'accept-ranges': '`bytes` when ranges are served.',
  'content-disposition': 'Name of the file.',
  'content-encoding': '`gzip` when the bytes are sent compressed.',
} as const;

/** Bytes have the type that was stored with them. Client generators do not support the wildcard alone. */
const media = ['application/octet-stream', '*/*'] as const;

/** Responses of a route that serves bytes; spread into `responses`. Its `errors` need `rangeNotSatisfiable`. */
export const downloadResponses = {
  200: { description: 'The bytes, with their stored Content-Type.', media, headers: byteHeaders },
  206: {
    description: 'One range of the bytes.',
    media,
    headers: { ...byteHeaders, 'content-range': 'The range and the total size.' },
  },
  304: { description: "The caller's copy is current.", headers: tagHeaders },
} as const;

/** Size of the bytes at the store: what else answers at its address has another one. */
export const sizeHeader = 'x-platform-size-bytes';

/** Parts of a route that may send its callers to the store; spread into it. */
export const redirectable = {
  query: z.object({
    redirect: booleanParameter().meta({
      description:
        'Accept 307 with the address of the bytes at the store, where the platform has `S3_DOWNLOAD_ENDPOINT`. Follow it ' +
        'without the token, with the same `Range`. Small outputs are sent as without it.',
      example: true,
    }),
  }),
  responses: {
    ...downloadResponses,
    307: {
      description:
        'The bytes are at the store. The address opens them for five minutes, without a token. It answers GET alone, also with `Range`.',
      headers: {
        location: 'Signed address of the bytes.',
        [sizeHeader]:
          'Size of all bytes. An answer of another size is not from the store: read through the platform.',
        etag: tagHeaders.etag,
        'cache-control': '`no-store`: the address expires.',
      },
    },
  },
} as const;

/**
 * Headers of the bytes where a store may send all of them, or the asked range, unchanged to this caller; undefined where the
 * reply is made here: for HEAD, conditions, and gzip that the caller does not accept. Throws `rangeNotSatisfiable`.
 */
export function headersAtStore(
  download: Omit<Download, 'open'> & { readonly method: string },
): Record<string, string> | undefined {
  const { method, requestHeaders, contentEncoding } = download;
  if (method === 'HEAD' || requestHeaders['if-none-match'] !== undefined) return undefined;
  const isPacked = contentEncoding === 'gzip';
  if (isPacked && !acceptsGzip(requestHeaders['accept-encoding'])) return undefined;
  const tag = download.etag === null ? null : `"${download.etag}"`;
  // A range outside is refused here, as without the store.
  wantedRange(requestHeaders, download.sizeBytes, tag);
  return safeHeaders(download, tag, isPacked);
}

/**
 * The reply for stored bytes. Gzip is sent unchanged to callers that accept it (ranges count in the stored bytes); for
 * others it is decoded, without ranges. Several ranges or a malformed one: all bytes. Throws `rangeNotSatisfiable` with
 * `Content-Range` when the single range is outside. For HEAD nothing is opened.
 */
export function serveBytes(download: Download): DownloadReply {
  const { requestHeaders, sizeBytes } = download;
  const packed = download.contentEncoding === 'gzip';
  const decode = packed && !acceptsGzip(requestHeaders['accept-encoding']);
  const tag = download.etag === null ? null : `${decode ? 'W/' : ''}"${download.etag}"`;
  const headers = safeHeaders(download, tag, packed && !decode);
  if (packed) headers.vary = 'Accept-Encoding';
  if (tag !== null && matchesTag(requestHeaders['if-none-match'], tag)) return { status: 304, headers };
  if (decode) {
    return { status: 200, headers, stream: async () => gunzip(await download.open(null)) };
  }
  headers['accept-ranges'] = 'bytes';
  const range = wantedRange(requestHeaders, sizeBytes, tag);
  if (range === null) {
    return {
      status: 200,
      headers: { ...headers, 'content-length': String(sizeBytes) },
      stream: () => download.open(null),
    };
  }
  return {
    status: 206,
    headers: {
      ...headers,
      'content-length': String(range.end - range.start + 1),
      'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}`,
    },
    stream: () => download.open(range),
  };
}

/** The one range asked for, or null for all bytes. */
function wantedRange(
  headers: Readonly<Record<string, string | undefined>>,
  sizeBytes: number,
  tag: string | null,
): ByteRange | null {
  const header = headers.range;
  if (header === undefined) return null;
  const condition = headers['if-range']?.trim();
  if (condition !== undefined && condition !== tag) return null;
  // Each space can be matched in one way only: otherwise the time grows with the cube of their number.
  const bounds = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header);
  const [, first = '', last = ''] = bounds ?? [];
  if (bounds === null || (first === '' && last === '')) return null;
  if (first !== '' && last !== '' && Number(first) > Number(last)) return null;
  // A suffix longer than the whole means the whole (RFC 9110, 14.1.2); the parser refuses it.
  if (first === '' && Number(last) > sizeBytes)
    return sizeBytes === 0 ? null : { start: 0, end: sizeBytes - 1 };
  const result = parseRange(sizeBytes, header.toLowerCase());
  if (result === -2) return null;
  const range = result === -1 ? undefined : result[0];
  if (range === undefined) {
    throw new Problem('rangeNotSatisfiable', { headers: { 'content-range': `bytes */${sizeBytes}` } });
  }
  return { start: range.start, end: range.end };
}

function safeHeaders(
  download: Pick<Download, 'contentType' | 'fileName'>,
  tag: string | null,
  packed: boolean,
): Record<string, string> {
  const name = shortened((download.fileName ?? 'data').normalize('NFC'));
  return {
    'content-type': safeMediaType(download.contentType),
    'content-disposition': attachment(name),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    ...(tag === null ? {} : { etag: tag }),
    ...(packed ? { 'content-encoding': 'gzip' } : {}),
  };
}

/** A long name keeps its ending: without it no program opens the file. */
function shortened(name: string): string {
  if (name.length <= nameCharacters) return name;
  const ending = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? '';
  return name.slice(0, nameCharacters - ending.length) + ending;
}

/** The value of `Content-Disposition` for a file of this name. */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w.() -]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeName(name)}`;
}

function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Without the header a caller gets plain bytes: many clients do not send it and do not decode. */
export function acceptsGzip(header: string | undefined): boolean {
  let any = false;
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2);
    const wanted = weight === undefined || Number(weight) > 0;
    if (coding === 'gzip' || coding === 'x-gzip') return wanted;
    if (coding === '*') any = wanted;
  }
  return any;
}

/** Weak comparison, as If-None-Match asks. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const bare = (text: string) => text.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((text) => bare(text) === bare(tag));
}

function gunzip(stream: Readable): Readable {
  // The reply's own pipeline reports the failure; this one only ties the two streams together.
  return pipeline(stream, createGunzip(), () => undefined);
}
