/**
 * The list of a node's outputs beside small requests: what small requests wait with no reader and with four, each of
 * which reads the whole list over and over, and the memory of the API meanwhile.
 *
 *   node test/bench/outputs.bench.ts [--outputs 100000] [--requests 300]
 */
import { request } from 'node:http';
import { parseArgs } from 'node:util';
import { Database } from '../../store/connection/database.ts';
import { report } from './support/figures.ts';
import { forgetPeak, memoryMebibytes } from './support/memory.ts';
import { importTemplate } from './support/outside-runner.ts';
import { printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const { values } = parseArgs({
  options: {
    outputs: { type: 'string', default: '100000' },
    requests: { type: 'string', default: '300' },
  },
});
const outputs = Number(values.outputs);
const requests = Number(values.requests);

/** Publishes outputs only as rows: their bytes are not read here. */
async function publishMany(databaseUrl: string, nodeId: number): Promise<void> {
  const database = await Database.open({ databaseUrl, poolSize: 1 });
  await database.query(
    `insert into node_output (session_id, node_instance_id, position, data_source_id, object_key, output_identifier,
                              content_type, size_bytes, sha256, etag, configuration)
     select n.session_id, n.id, place, d.id, 'outputs/' || gen_random_uuid(), 'output-' || place, 'text/csv', 1,
            repeat('0', 64), 'etag', n.configuration
       from node_instance n, data_source d, generate_series(1, $2::int) place
      where n.id = $1 and d.name = 'platform'`,
    [nodeId, outputs],
  );
  await database.query(
    `with s as (update session set newest_position = $2 where id = (select session_id from node_instance where id = $1))
     update node_instance set newest_position = $2 where id = $1`,
    [nodeId, outputs],
  );
  await database.query('analyze node_output');
  await database.close();
}

const platform = await startBenchPlatform();
try {
  printMachine();
  const template = await importTemplate(platform.client, 'outputs', 0, 0);
  const { id, inputId } = await createSession(platform.client, template, 'input');
  await publishMany(platform.stack.environment.DATABASE_URL ?? '', inputId);
  const path = `/api/v2/node-instance/${inputId}/outputs`;
  const headers = { authorization: `Bearer ${platform.token}` };
  const readAll = () =>
    new Promise<number>((resolve, reject) => {
      const startedAtMs = performance.now();
      request({ port: platform.port, path, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(performance.now() - startedAtMs));
        response.on('error', reject);
      })
        .on('error', reject)
        .end();
    });
  const small = async () => {
    const startedAtMs = performance.now();
    await platform.client.expect(200, 'GET', `/api/v2/session/${id}/node-instances`);
    return performance.now() - startedAtMs;
  };
  const pid = platform.pid('api');
  for (const readers of [0, 4]) {
    forgetPeak(pid);
    let isOver = false;
    const wholeMs: number[] = [];
    const reading = Array.from({ length: readers }, async () => {
      while (!isOver) wholeMs.push(await readAll());
    });
    const waitedMs: number[] = [];
    for (let count = 0; count < requests; count += 1) waitedMs.push(await small());
    isOver = true;
    await Promise.all(reading);
    printFigure(`small request beside ${readers} readers of ${outputs} outputs`, waitedMs, {
      aim: { of: 'p99', most: 100 },
    });
    if (readers > 0) printFigure(`list of ${outputs} outputs, ${readers} readers at once`, wholeMs);
    const peak = memoryMebibytes(pid, 'VmHWM');
    report({
      name: `memory of the API, ${readers} readers of ${outputs} outputs`,
      unit: 'MiB',
      values: [peak],
    });
    console.log(`API memory at the most: ${peak} MiB`);
  }
} finally {
  await platform.stop();
}
