/**
 * The built web console: its files are cacheable for ever, its page answers every address that only a browser requests.
 */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { acceptsGzip, matchesTag } from '../bodies/download.ts';
import type { Fallback } from '../middlewares.ts';
import { splitTarget } from '../paths.ts';
import type { Reply } from '../route.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
};

/** Compression shortens text by two thirds. */
const compressible = new Set(['.html', '.js', '.css', '.json', '.svg', '.txt', '.map']);
const maxCompressedBytes = 4 * 1024 * 1024;

/** Plain names only: no way up, no hidden files. */
const filePath = /^(?:\/[\w-][\w.-]*)+$/;

/**
 * Files below `folder`, for GET and HEAD of paths without a route. `/` is the console's page; every other path without a
 * file gets it when a browser navigates there (`Accept: text/html`), except below /api; else null.
 */
export function staticFiles(folder: URL): Fallback {
  const compressed = new CompressedFiles();
  const reply = (path: string, request: IncomingMessage) => fileReply(folder, path, request, compressed);
  return async (request) => {
    const { path } = splitTarget(request.url ?? '/');
    if (path === '/api' || path.startsWith('/api/')) return null;
    const file = path !== '/' && filePath.test(path) ? await reply(path, request) : null;
    if (file !== null) return file;
    return path === '/' || wantsPage(request) ? await reply('/index.html', request) : null;
  };
}

function wantsPage(request: IncomingMessage): boolean {
  return (request.headers.accept ?? '').toLowerCase().includes('text/html');
}

/** Files as gzip, each compressed once and cached: a built console has few of them. */
class CompressedFiles {
  readonly #files = new Map<string, { readonly etag: string; readonly bytes: Promise<Buffer> }>();

  of(name: string, etag: string): Promise<Buffer> {
    const kept = this.#files.get(name);
    if (kept?.etag === etag) return kept.bytes;
    const bytes = readFile(name).then((plain) => compress(plain, { level: constants.Z_BEST_COMPRESSION }));
    this.#files.set(name, { etag, bytes });
    // A file that could not be read is tried again next time.
    bytes.catch(() => this.#files.delete(name));
    return bytes;
  }
}

const compress = promisify(gzip);

async function fileReply(
  folder: URL,
  path: string,
  request: IncomingMessage,
  compressed: CompressedFiles,
): Promise<Reply | null> {
  const extension = extname(path).toLowerCase();
  const type = mediaTypes[extension];
  if (type === undefined) return null;
  const name = fileURLToPath(new URL(`.${path}`, folder));
  const info = await stat(name).catch(() => null);
  if (info === null || !info.isFile()) return null;
  const mayCompress = compressible.has(extension) && info.size <= maxCompressedBytes;
  const isGzip = mayCompress && acceptsGzip(request.headers['accept-encoding']);
  const version = `${info.size.toString(36)}-${Math.floor(info.mtimeMs).toString(36)}`;
  const etag = `"${version}${isGzip ? '-gzip' : ''}"`;
  const headers = {
    'content-type': type,
    etag,
    ...(mayCompress ? { vary: 'accept-encoding' } : {}),
    // Built assets carry a hash of their content in their name; the page names the newest of them.
    'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (matchesTag(request.headers['if-none-match'], etag)) return { status: 304, headers };
  if (isGzip) {
    const stream = await compressed.of(name, version);
    return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, stream };
  }
  return {
    status: 200,
    headers: { ...headers, 'content-length': String(info.size) },
    // No more than the declared length, should the file grow meanwhile.
    stream: info.size === 0 ? new Uint8Array() : () => createReadStream(name, { end: info.size - 1 }),
  };
}
