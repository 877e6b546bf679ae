/** The built web console: its files for ever cacheable, its page for every address that only a browser asks for. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fallback } from './app.ts';
import { splitTarget } from './dispatcher.ts';
import type { Reply } from './route.ts';

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

/** Plain names only: no way up, no hidden files. */
const filePath = /^(?:\/[\w-][\w.-]*)+$/;

/**
 * Files below `folder`, for GET and HEAD of paths that no route answers. What is no file is the console's page when
 * a browser navigates there (`Accept: text/html`), except below /api; else null.
 */
export function staticFiles(folder: URL): Fallback {
  return async (request) => {
    const { path } = splitTarget(request.url ?? '/');
    if (path === '/api' || path.startsWith('/api/')) return null;
    const file = path !== '/' && filePath.test(path) ? await fileReply(folder, path, request) : null;
    if (file !== null) return file;
    return wantsPage(request) ? await fileReply(folder, '/index.html', request) : null;
  };
}

function wantsPage(request: IncomingMessage): boolean {
  return (request.headers.accept ?? '').toLowerCase().includes('text/html');
}

async function fileReply(folder: URL, path: string, request: IncomingMessage): Promise<Reply | null> {
  const type = mediaTypes[extname(path).toLowerCase()];
  if (type === undefined) return null;
  const name = fileURLToPath(new URL(`.${path}`, folder));
  const info = await stat(name).catch(() => null);
  if (info === null || !info.isFile()) return null;
  const etag = `"${info.size.toString(36)}-${Math.floor(info.mtimeMs).toString(36)}"`;
  const headers = {
    'content-type': type,
    etag,
    // Built assets carry a hash of their content in their name; the page names the newest of them.
    'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers };
  return {
    status: 200,
    headers: { ...headers, 'content-length': String(info.size) },
    stream: () => createReadStream(name),
  };
}
