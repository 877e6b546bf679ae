/** Leftovers of writing a built-in output when its store fails. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DataSources } from '../../activities/builtin/data-sources.ts';
import type { BuiltinRun } from '../../activities/builtin/node.ts';
import { writeOutput } from '../../activities/builtin/write-output.ts';
import { startTestApi } from '../support/api.ts';
import { chain, makeGraph } from '../support/graph.ts';
import { tcpGate } from '../support/network/tcp-gate.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const gate = await tcpGate(platform.s3.endpoint);
const api = await startTestApi({ ...platform.environment, S3_ENDPOINT: gate.url });
const folder = mkdtempSync(join(tmpdir(), 'sdp-output-'));
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});
const { database, objects, pending, log } = api.composed.services;
const services = { database, objects, pending, log };
const graph = await makeGraph(database, chain(1));

/** Writes the file at a path as a run does, without a check of its claim. */
async function write(path: string): Promise<unknown> {
  const run = {
    task: { taskId: 'none', nodeInstanceId: graph.nodes.n1 },
    sources: new DataSources(objects),
    signal: AbortSignal.timeout(100_000),
  } as unknown as BuiltinRun;
  const output = { outputIdentifier: 'one', contentType: 'text/csv', metadata: null, content: { path } };
  return await writeOutput(run, services, output).catch((error: Error) => error);
}

const openFiles = () =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder);
    } catch {
      return false;
    }
  });

test.skipIf(process.platform !== 'linux')('no descriptor stays open while the store is away', async () => {
  const path = join(folder, 'output');
  writeFileSync(path, Buffer.alloc(3_000_000));
  gate.shut();
  try {
    for (let tries = 0; tries < 3; tries += 1) expect(String(await write(path))).toContain('data source');
    expect(openFiles()).toEqual([]);
  } finally {
    gate.open();
  }
});

test('a file that cannot be read fails its run, and not the process', async () => {
  const path = join(folder, 'no-file');
  mkdirSync(path);
  gate.shut();
  try {
    expect(await write(path)).toBeInstanceOf(Error);
  } finally {
    gate.open();
  }
  expect(String(await write(path))).toContain('was interrupted');
});
