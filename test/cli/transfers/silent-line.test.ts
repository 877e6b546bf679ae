/** A line that takes bytes and never answers: a command goes on to its next try, and does not wait without end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PlatformClient } from '../../../cli/platform-client.ts';
import { NetworkError } from '../../../client/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-silent-'));
/** It reads requests and answers none. */
const server = createServer((incoming) => void incoming.resume());
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const file = join(folder, 'lap.csv');
writeFileSync(file, 'a\n1\n');
const platform = new PlatformClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
platform.silenceMs = 300;

test.each([
  ['an upload in one request', () => platform.upload(7, file, {}, () => undefined)],
  ['an upload in pieces', () => platform.uploadResumable(7, file, {}, () => undefined)],
  ['a download of stored bytes', () => platform.openStored('/api/v2/node-instance/outputs/5/data')],
])('%s is given up when no byte passes for long, as a break of the connection', async (_, transfer) => {
  await expect(transfer()).rejects.toBeInstanceOf(NetworkError);
});
