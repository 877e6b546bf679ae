/** The C++ example on the platform: what it writes, what it rejects, and how long an input may take. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { chain, makeGraph, outsideTemplate } from '../support/graph.ts';
import { openGate } from '../support/network/gate.ts';
import { testProcesses } from '../support/processes.ts';
import { buildCpp } from './support/cpp-example.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const template = 'speed-to-distance';
const processes = testProcesses({});
const { program } = await buildCpp();

function start(url: string) {
  const variables = { SDP_URL: url, SDP_RUNNER_TOKEN: stage.people.Developer.token };
  return processes.startScript('', variables, { program });
}

async function graph() {
  const made = await makeGraph(stage.database, chain(1, template));
  const sql = `update node_instance set configuration = '{"dataSourceName": "platform"}' where session_id = $1`;
  await stage.database.query(sql, [made.sessionId]);
  return made;
}

describe('the C++ example', () => {
  beforeAll(async () => {
    await outsideTemplate(stage.database, template, { incremental: true });
  });

  test('rejects what is no table, however long its cells are, and continues', async () => {
    const made = await graph();
    const tables = [
      '',
      'time;speed\n',
      `time,speed\n0,${'x'.repeat(20_000)}\n`,
      'time,speed\n0,1\0\n',
      'time,speed\n0,nan\n',
      'time,speed\n0,1e400\n',
    ];
    // A spreadsheet begins a table with a byte order mark.
    const right = '\ufefftime,speed\n0,1\n1,3\n';
    for (const table of [...tables, right]) await stage.upload(made, 'input', table);
    const child = start(stage.api.url);
    await stage.until(made, 'n1', 'Succeeded');
    expect(await stage.outputs(made, 'n1')).toEqual(['time,speed,distance\n0,1,0\n1,3,2\n']);
    const call = async (path: string) =>
      await ask(stage.api.url, 'GET', `/api/v2/node-instance/${path}`, {
        token: stage.people.Developer.token,
      });
    const last = (await call(`${made.nodes.input}/outputs`)).body.at(-1).outputIdentifier;
    const [{ metadata }] = (await call(`${made.nodes.n1}/outputs`)).body;
    expect(metadata).toEqual({ sourceKey: last });
    const { body } = await call(`${made.nodes.n1}/rejected-inputs`);
    const reasons = body.rejectedInputs.map(({ reason }: { reason: string }) => reason).toSorted();
    expect(reasons).toEqual([
      'it is empty',
      "row 1: '1?' is not a number",
      "row 1: '1e400' is not a number",
      "row 1: 'nan' is not a number",
      `row 1: '${'x'.repeat(100)}' is not a number`,
      "the header is 'time;speed', not 'time,speed'",
    ]);
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  test('keeps the metres of a long drive', async () => {
    const made = await graph();
    await stage.upload(made, 'input', 'time,speed\n0,60.25\n100001,60.25\n');
    const child = start(stage.api.url);
    await stage.until(made, 'n1', 'Succeeded');
    expect(await stage.outputs(made, 'n1')).toEqual([
      'time,speed,distance\n0,60.25,0\n100001,60.25,6025060.25\n',
    ]);
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  test('ends a task when its work is done, not with the next heartbeat', async () => {
    const made = await graph();
    await stage.upload(made, 'input', 'time,speed\n0,1\n1,3\n');
    const child = start(stage.api.url);
    await stage.until(made, 'n1', 'Succeeded');
    const sql = `select extract(epoch from c.ended_at - c.claimed_at)::float8 as seconds
      from node_claim c join node_run r on r.id = c.run_id where r.node_instance_id = $1`;
    const [claim] = await stage.database.query<{ seconds: number }>(sql, [made.nodes.n1]);
    // Heartbeats come every ten seconds.
    expect(claim?.seconds).toBeLessThan(5);
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  test.concurrent('waits no longer than a minute for a platform that asks for more', async () => {
    const proxy = await faultProxy(stage.api.url);
    const busy = { status: 503, headers: { 'retry-after': '3600' } };
    proxy.spoil(/whoami/, busy, busy, busy);
    const child = start(proxy.url);
    await eventually('it asks again', () => proxy.count(/whoami/) === 2, 90_000);
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  test.concurrent('reads an input that takes longer than a minute to arrive', async () => {
    const made = await graph();
    // The fault in its last row ends the reading, so that no output goes the same slow way.
    const rows = Array.from({ length: 1_000_000 }, (_, row) => `${row},60`);
    await stage.upload(made, 'input', `time,speed\n${rows.join('\n')}\nend\n`);
    const gate = await openGate(stage.api.url);
    gate.set({ kind: 'slow', latencyMs: [0, 0], bytesPerSecond: 140_000 });
    const child = start(gate.url);
    await eventually('the input is read once', () => child.log().includes('was rejected'), 200_000);
    gate.set({ kind: 'pass' });
    await stage.until(made, 'n1', 'Succeeded');
    expect(child.log()).toContain('row 1000001 does not have two cells');
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
    await gate.close();
  });
});
