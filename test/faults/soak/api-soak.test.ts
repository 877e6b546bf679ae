/**
 * Hostile callers do not harm the calls of others at the API. In the suite a small soak; `npm run soak:api` runs it at
 * its full size (SOAK_API_PERCENT=100).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { eventually } from '../../support/eventually.ts';
import { testProcesses } from '../../support/processes.ts';
import { runnerStage } from '../../support/runner.ts';
import { ApiSoak, mebibytes, type SoakSizes } from './api-soak.ts';
import type { HeldMemory } from './memory-probe.ts';

const percent = Number(process.env.SOAK_API_PERCENT ?? '1');
const isFull = percent >= 100;
const share = (whole: number) => Math.ceil((whole * percent) / 100);
const sizes: SoakSizes = {
  hungUp: share(5_001),
  idleReaders: Math.max(10, share(200)),
  halfOpen: share(10_000),
  cutEveryBytes: Math.max(1, Math.round(40 - percent)),
  awaitsServer: isFull,
};
/**
 * The whole process, half of the limit of its container in docker-compose.yml. It does not measure a leak: the process
 * keeps pages that thousands of callers had filled for a while after they are free.
 */
const residentMebibytes = 1_024;
const outputs = Math.max(2_000, share(20_000));

const stage = await runnerStage();
const probe = join(mkdtempSync(join(tmpdir(), 'sdp-soak-')), 'probe');
const processes = testProcesses({
  ...stage.platform.environment,
  NODE_OPTIONS: `--expose-gc --import=${new URL('./memory-probe.ts', import.meta.url).href}`,
  SOAK_PROBE: probe,
});
afterAll(() => rmSync(dirname(probe), { recursive: true, force: true }));
const { database } = stage;

test(`after waves of hostile callers (${percent} %) the process is the same, as large and as fast as before`, {
  timeout: 300_000 + percent * 36_000,
}, async () => {
  await ensurePlatformDataSource(database, stage.api.composed.services.objects.platformAccess);
  const graph = await stage.chainOf(1);
  const { body: large } = await stage.upload(graph, 'input', Buffer.alloc(8 * 1024 ** 2));
  await database.query(
    `insert into node_output (session_id, node_instance_id, position, data_source_id, object_key, output_identifier,
       content_type, size_bytes, etag, configuration)
     select s.id, $2, s.newest_position + at, $3, 'none', 'lap-' || at, 'text/csv', 0, '', '{}'
       from session s, generate_series(1, $4::int) at where s.id = $1`,
    [graph.sessionId, graph.nodes.input, graph.dataSourceId, outputs],
  );
  await database.query(
    `with s as (
       update session set newest_position = newest_position + $3 where id = $1 returning newest_position
     ) update node_instance set newest_position = s.newest_position from s where id = $2`,
    [graph.sessionId, graph.nodes.input, outputs],
  );
  const api = await processes.startApi();
  const world = {
    api,
    token: stage.people.Developer.token,
    besideToken: stage.people.Instructor.token,
    sessionId: graph.sessionId,
    inputNode: graph.nodes.input!,
    largeOutput: large.id,
    settle: heldMemory,
  };
  // Memory that is compiled, pooled and cached at the first use is not a leak.
  await new ApiSoak(world, {
    ...sizes,
    hungUp: share(500),
    idleReaders: 10,
    halfOpen: share(500),
    cutEveryBytes: 40,
    awaitsServer: false,
  }).run();
  const start = await heldMemory();
  const soak = new ApiSoak(world, sizes);
  const descriptorsBefore = soak.descriptors;
  const before = await median(soak);
  await soak.run().finally(() => {
    if (process.env.SOAK_API_PERCENT !== undefined)
      console.table(
        soak.rows.map((row) => ({
          ...row,
          answers: JSON.stringify(row.answers),
          unserved: JSON.stringify(row.unserved),
        })),
      );
  });
  // Other test files use the processors too.
  await eventually('it is as fast as before', async () => (await median(soak)) < Math.max(50, before * 3));
  const end = await heldMemory();
  if (process.env.SOAK_API_PERCENT !== undefined) console.log({ pid: api.pid, start, end, before });
  expect(await Promise.race([api.ended, Promise.resolve('runs')])).toBe('runs');
  expect(soak.descriptors).toBeLessThan(descriptorsBefore + 10);
  expect(mebibytes(end.heapUsed + end.external)).toBeLessThan(
    1.2 * mebibytes(start.heapUsed + start.external),
  );
  expect(Math.max(...soak.rows.map(({ resident }) => resident))).toBeLessThan(residentMebibytes);
  expect(soak.rows.map(({ unserved }) => unserved)).toEqual(soak.rows.map(() => ({})));
  const statuses = soak.rows.flatMap(({ answers }) => Object.keys(answers));
  expect(statuses.filter((status) => status.startsWith('5'))).toEqual([]);
  // The waves did what they claim: some calls were answered, some refused, some never read.
  expect(statuses).toEqual(expect.arrayContaining(['200', '400', '431', 'none']));
  expect(soak.rows[1]!.calls).toBe(sizes.idleReaders);
});

/** What the process under test holds once its garbage is collected. */
async function heldMemory(): Promise<HeldMemory> {
  return await new Promise((resolve, reject) => {
    request({ socketPath: probe, agent: false }, (response) => resolve(json(response) as Promise<HeldMemory>))
      .on('error', reject)
      .end();
  });
}

/** Milliseconds of a small request. */
async function median(soak: ApiSoak): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < 21; at += 1) times.push((await soak.request()).ms);
  return times.toSorted((one, other) => one - other)[10]!;
}
