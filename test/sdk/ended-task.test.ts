/** An ended task leaves nothing that affects the tasks beside it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { defineRunner, type JsonObject, type RunResult, type Task } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const folder = mkdtempSync(join(tmpdir(), 'sdp-ended-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// Lines so long that an abandoned reader is not paused, and continues to read.
const bytes = Buffer.from(`${'time,speed,'.repeat(100)}\n`.repeat(4_000));

/** A runner process of two tasks at once, one of which waits. */
async function besideAnother(BEHAVIOUR: string) {
  const proxy = await faultProxy(stage.api.url);
  const [bad, other] = [
    await stage.chainOf(1, { maxAttempts: 1 }),
    await stage.chainOf(1, { maxAttempts: 1 }),
  ];
  const goOnFile = join(folder, BEHAVIOUR.replaceAll(' ', '-'));
  const process = await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
    SDP_URL: proxy.url,
    SDP_RUNNER_CONCURRENCY: '2',
    GO_ON_FILE: goOnFile,
    BEHAVIOUR,
    TEMPLATE: bad.template,
    OTHER_TEMPLATE: other.template,
  });
  await stage.upload(other, 'input', 'x', { 'x-platform-output-identifier': 'wait' });
  await eventually('the other task is held', () => process.log().includes('waiting'));
  return { proxy, bad, other, process, goOn: () => writeFileSync(goOnFile, '') };
}

describe('a task that fails in the middle of its input', () => {
  test.each(['stops reading', 'leaves readers'])(
    'leaves its process and the task beside it as they are: one that %s',
    async (behaviour) => {
      const { proxy, bad, other, process, goOn } = await besideAnother(behaviour);
      const cut = Promise.withResolvers<void>();
      const fault = { answerBytes: 2_000_000, cutWhen: cut.promise };
      proxy.spoil(/^GET .*data/, fault, fault, fault);
      await stage.upload(bad, 'input', bytes);
      await stage.until(bad, 'n1', 'Failed');
      const reads = proxy.count(/^GET .*data/);
      cut.resolve();
      // A task that comes afterwards is served by the same process, on the connections that were left.
      await stage.upload(bad, 'input', 'time,speed\n');
      await eventually('the next task has failed as well', async () => {
        return (await stage.claims(bad, 'n1')).filter(({ ending }) => ending === 'fail').length === 2;
      });
      goOn();
      await stage.until(other, 'n1', 'Succeeded');
      expect(await stage.claims(other, 'n1')).toMatchObject([{ attempt: 1, ending: 'complete' }]);
      const readers = behaviour === 'leaves readers' ? 3 : 1;
      // A reader that was cut reads no more, and one that had not begun when its task ended never does.
      expect(proxy.count(/^GET .*data/)).toBeGreaterThan(reads);
      expect(proxy.count(/^GET .*data/)).toBeLessThanOrEqual(reads + readers);
      process.kill('SIGTERM');
      expect(await process.ended).toBe(0);
    },
  );
});

/** A runner in this process whose reads are cut only when `cut` is called. */
async function readingSlowly(
  stored: Uint8Array,
  headers: Record<string, string>,
  run: (task: Task, underWay: () => number) => Promise<RunResult<JsonObject>>,
) {
  const graph = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 10 });
  const proxy = await faultProxy(stage.api.url);
  const cut = Promise.withResolvers<void>();
  const fault = { answerBytes: 2_000_000, cutWhen: cut.promise };
  proxy.spoil(/^GET .*data/, fault, fault);
  const underWay = () => proxy.underWay(/^GET .*data/);
  const runner = defineRunner({
    templates: [graph.template],
    cancelGraceSeconds: 0,
    run: (task) => run(task, underWay),
  });
  await stage.start(runner, { url: proxy.url });
  await stage.upload(graph, 'input', stored, headers);
  return { graph, cut: () => cut.resolve(), underWay };
}

test('lines and rows are decoded, and a loop that is left ends its connection', async () => {
  const seen: unknown[] = [];
  const stored = gzipSync(bytes, { level: 0 });
  const { graph } = await readingSlowly(stored, { 'content-encoding': 'gzip' }, async (task, underWay) => {
    for await (const input of task.inputs()) {
      for (const items of [input.lines(), input.rows({ header: false })]) {
        for await (const item of items) {
          seen.push(String(item));
          break;
        }
        await eventually('the connection has ended', () => underWay() === 0);
      }
    }
  });
  await stage.until(graph, 'n1', 'Succeeded');
  const first = 'time,speed,'.repeat(100);
  expect(seen).toEqual([first, first]);
});

test('an input that fails while its task does not listen fails the task', async () => {
  const stored = gzipSync(bytes);
  stored.fill(0, 20, 24);
  const { graph } = await readingSlowly(stored, { 'content-encoding': 'gzip' }, async (task) => {
    for await (const input of task.inputs()) {
      await new Promise((resolve) => {
        const stream = input.stream().on('data', () => undefined);
        stream.once('end', resolve);
        task.signal.addEventListener('abort', resolve);
        stream.once('close', () => setTimeout(resolve, 500));
      });
    }
  });
  await stage.until(graph, 'n1', 'Failed');
  expect((await stage.node(graph, 'n1')).statusDetails).toMatch(/^validation: its gzip is broken: /);
});

test("an operator's cancel ends reads that the code has left, and tells those that wait", async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const { graph, underWay } = await readingSlowly(bytes, {}, async (task) => {
    for await (const input of task.inputs()) {
      for await (const _line of createInterface({ input: input.stream() })) break;
      begun.resolve();
      await input.bytes().catch(cancelled.resolve);
    }
  });
  await begun.promise;
  const [run] = await stage.database.query<{ id: string }>(
    'select id from node_run where node_instance_id = $1',
    [graph.nodes.n1],
  );
  const token = stage.people.Administrator.token;
  await ask(stage.api.url, 'POST', `/api/v2/admin/node-runs/${run!.id}/cancel`, { token });
  expect(await cancelled.promise).toMatchObject({ name: 'AbortError', why: 'cancelled' });
  await eventually('no read is under way', () => underWay() === 0);
  await stage.until(graph, 'n1', 'Failed');
});
