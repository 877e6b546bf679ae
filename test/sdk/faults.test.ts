/** Broken connections and failing servers cost a runner only time. */
import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { defineRunner, type RunResult, type StartOptions, type Task } from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A graph of one node, and a runner for it behind a proxy whose faults are set before it starts. */
async function behind(
  spoil: (proxy: FaultProxy) => void,
  run: (task: Task) => Promise<RunResult>,
  incremental = false,
  options: StartOptions = {},
) {
  const graph = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 10, incremental });
  const proxy = await faultProxy(stage.api.url);
  spoil(proxy);
  await stage.start(defineRunner({ templates: [graph.template], run }), { ...options, url: proxy.url });
  return { graph, proxy };
}

describe('an input whose connection breaks', () => {
  const text = `${'0123456789abcdef'.repeat(64)}\n`.repeat(2_000);
  const bytes = randomBytes(3 * 1024 * 1024);
  const cuts = [0, 1, 70_000, 1_000_000].map((answerBytes) => ({ answerBytes }));
  const cases = [
    ['plain', bytes, {}, sha256(bytes)],
    ['compressed', gzipSync(text, { level: 0 }), { 'content-encoding': 'gzip' }, sha256(Buffer.from(text))],
  ] as const;

  test.each(cases)('is read whole, from where it broke: %s', async (_name, stored, headers, digest) => {
    let read = '';
    const spoil = (proxy: FaultProxy) => proxy.spoil(/^GET .*data/, ...cuts, 'refuse', { status: 503 });
    const { graph, proxy } = await behind(spoil, async (task) => {
      for await (const input of task.inputs()) read = sha256(await input.bytes());
    });
    await stage.upload(graph, 'input', stored, headers);
    await stage.until(graph, 'n1', 'Succeeded');
    expect(read).toBe(digest);
    const reads = proxy.seen.filter(({ path }) => path.includes('/data'));
    const places = reads.map(({ headers }) => Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0));
    // A broken connection may have delivered only a part of the sent bytes.
    expect(places.slice(0, 4)).toEqual([0, 0, 1, 70_001]);
    expect(places.slice(4)).toEqual(Array(3).fill(places[4]));
    expect(places[4]).toBeGreaterThan(500_000);
  });
});

test('every call whose answer is lost is made again, and does once what it does', async () => {
  const spoil = (proxy: FaultProxy) => {
    for (const call of ['claim', 'inputs\\?', 'state', 'outputs', 'watermark', 'complete', 'whoami']) {
      proxy.spoil(new RegExp(`/${call}`), 'no-answer', 'refuse');
    }
  };
  const run = async (task: Task) => {
    const runs = ((await task.state.get()) as { runs: number } | null)?.runs ?? 0;
    await task.eachNewInput(async (input) => {
      task.state.set({ runs: runs + 1 });
      await task.write(`${await input.text()} ${runs}`);
    });
  };
  const { graph } = await behind(spoil, run, true);
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  const outputs = await stage.database.query('select 1 from node_output where node_instance_id = $1', [
    graph.nodes.n1,
  ]);
  expect(outputs).toHaveLength(1);
  expect(await stage.latest(graph, 'n1')).toBe('bytes 0');
  const [run1] = await stage.database.query(
    `select r.attempt, r.lost_count, n.runner_state as "state"
       from node_run r join node_instance n on n.id = r.node_instance_id where n.id = $1`,
    [graph.nodes.n1],
  );
  expect(run1).toEqual({ attempt: 1, lostCount: 0, state: { runs: 1 } });
});

test('a finished result is reported when the platform is back, however long that takes within the lease, and the log says that it is', async () => {
  const spoil = (proxy: FaultProxy) =>
    proxy.spoil(/complete/, 'refuse', 'refuse', { status: 500 }, { status: 404 });
  const said: string[] = [];
  const log = (_level: string, message: string) => void said.push(message);
  const run = async (task: Task) => void (await task.write('result'));
  const { graph } = await behind(spoil, run, false, { log });
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.latest(graph, 'n1')).toBe('result');
  await eventually('it says so', () => said.some((line) => /complete: answered again$/.test(line)));
  expect(said).toContainEqual(
    expect.stringMatching(/complete: http:.*\/api\/v2\/runner answered 404, .*; trying again$/),
  );
});

test('a body that breaks off on its way in is sent again', async () => {
  const bytes = randomBytes(5 * 1024 * 1024);
  const spoil = (proxy: FaultProxy) =>
    proxy.spoil(/outputs/, { requestBytes: 100_000 }, { requestBytes: 4_000_000 });
  const { graph } = await behind(spoil, async (task) => void (await task.write(bytes)));
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  const [output] = await stage.database.query('select sha256 from node_output where node_instance_id = $1', [
    graph.nodes.n1,
  ]);
  expect(output).toEqual({ sha256: sha256(bytes) });
});

test('a server that asks for time with Retry-After gets it', async () => {
  const times: number[] = [];
  const spoil = (proxy: FaultProxy) =>
    proxy.spoil(
      /state/,
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 503, headers: { 'retry-after': '1' } },
    );
  const { graph } = await behind(spoil, async (task) => {
    times.push(performance.now());
    await task.state.get();
    times.push(performance.now());
  });
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1_990);
});

test('heartbeats that get no answer for a while cost no lease', async () => {
  const goOn = Promise.withResolvers<void>();
  const spoil = (proxy: FaultProxy) => proxy.spoil(/heartbeat/, 'refuse', 'no-answer', { status: 503 });
  const { graph, proxy } = await behind(spoil, async (task) => {
    await goOn.promise;
    await task.write('kept');
  });
  await stage.upload(graph, 'input', 'bytes');
  await eventually('beats arrive again', () => proxy.count(/heartbeat/) >= 4);
  goOn.resolve();
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.claims(graph, 'n1')).toHaveLength(1);
});

test('all calls say who makes them', async () => {
  const { graph, proxy } = await behind(
    () => undefined,
    async (task) => void (await task.write('x')),
  );
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  const agents = new Set(proxy.seen.map(({ headers }) => headers['user-agent']));
  expect([...agents]).toEqual([expect.stringMatching(/^\S+\/0\.0\.0 sdp-runner\/\d/)]);
});
