/** Outputs that are larger than one request, and than a runner's memory should be. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { defineRunner, type Task, type WrittenOutput } from '../../sdk/index.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const mebibytes = 1024 * 1024;
/**
 * An idle runner uses some 100 MB; parts on their way use 32 MB, and read bytes wait for their collection, on a busy
 * machine for longer. One that kept the large output would use 400.
 */
const peakBoundMegabytes = 320;
/** A campaign sets a larger one; the bound stays. */
const largeMegabytes = Number(process.env.BIG_OUTPUT_MEGABYTES ?? 200);

async function digestOfLatest(
  nodeInstanceId: number | undefined,
): Promise<{ sizeBytes: number; sha256: string }> {
  const path = `/api/v2/node-instance/${nodeInstanceId}/outputs/latest/data`;
  const headers = { authorization: `Bearer ${stage.people.Developer.token}` };
  const answer = await fetch(stage.api.url + path, { headers });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of answer.body!) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

function digestOfBlocks(sizeMegabytes: number): string {
  const blockBytes = 100_000;
  const sizeBytes = sizeMegabytes * mebibytes;
  const hash = createHash('sha256');
  for (let sent = 0; sent < sizeBytes; sent += blockBytes) {
    const seed = createHash('sha256').update(String(sent)).digest();
    hash.update(Buffer.alloc(Math.min(blockBytes, sizeBytes - sent), seed));
  }
  return hash.digest('hex');
}

test.each([20, largeMegabytes])(
  '%i MB go out of a runner process and through another task within bounded memory',
  async (size) => {
    const graph = await stage.chainOf(2);
    const child = await stage.startProcess('test/sdk/support/runners/writes-much.ts', {
      TEMPLATE: graph.template,
      SIZE_MB: String(size),
    });
    await stage.upload(graph, 'input', 'go');
    await stage.until(graph, 'n2', 'Succeeded', 60_000 + size * 500);
    const sent = { sizeBytes: size * mebibytes, sha256: digestOfBlocks(size) };
    expect(await digestOfLatest(graph.nodes.n1)).toEqual(sent);
    expect(await digestOfLatest(graph.nodes.n2)).toEqual(sent);
    const peaks = [...child.log().matchAll(/peak (\d+) MB/g)].map(([, peak]) => Number(peak));
    expect(peaks).toHaveLength(2);
    for (const peak of peaks) expect(peak).toBeLessThan(peakBoundMegabytes);
  },
  120_000 + largeMegabytes * 500,
);

describe('an output in parts', () => {
  const block = Buffer.alloc(mebibytes, 'abcdefgh');
  const blocks = 17;
  const expected = createHash('sha256');
  for (let n = 0; n < blocks; n += 1) expected.update(block);
  const digest = { sizeBytes: blocks * mebibytes, sha256: expected.digest('hex') };

  async function oneNode(run: (task: Task) => Promise<void>, maxAttempts = 1) {
    const graph = await stage.chainOf(1, { maxAttempts });
    const proxy = await faultProxy(stage.api.url);
    const runner = defineRunner({ templates: [graph.template], run });
    return { graph, proxy, start: () => stage.start(runner, { url: proxy.url }) };
  }

  async function* stream() {
    for (let n = 0; n < blocks; n += 1) yield block;
  }

  test('arrives whole though connections break at its start, in its parts and at its end', async () => {
    let written: WrittenOutput | undefined;
    const { graph, proxy, start } = await oneNode(async (task) => {
      written = await task.write(stream(), {
        identifier: 'big',
        contentType: 'text/plain',
        metadata: { a: 1 },
      });
    });
    proxy.spoil(/uploads$/, 'no-answer', 'refuse');
    proxy.spoil(/parts\/1$/, { requestBytes: 3 * mebibytes }, 'no-answer', { status: 503 });
    proxy.spoil(/parts\/3$/, 'no-answer', { requestBytes: 0 });
    proxy.spoil(/uploads\/[^/]+\/complete$/, 'no-answer', 'refuse');
    await start();
    await stage.upload(graph, 'input', 'go');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(written).toMatchObject({ outputIdentifier: 'big', sizeBytes: digest.sizeBytes, sha256: null });
    expect(await digestOfLatest(graph.nodes.n1)).toEqual(digest);
    expect(proxy.count(/parts\/\d+$/)).toBe(3 + 3 + 2);
  });

  test('is not sent again by an attempt that finds it', async () => {
    const seen: WrittenOutput[] = [];
    const { graph, proxy, start } = await oneNode(async (task) => {
      seen.push(await task.write(stream()));
      if (task.attempt === 1) throw new Error('after the output');
    }, 2);
    await start();
    await stage.upload(graph, 'input', 'go');
    await stage.retryNow(graph, 'n1');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(seen.map(({ created }) => created)).toEqual([true, false]);
    expect(proxy.count(/parts/)).toBe(3);
    expect(await digestOfLatest(graph.nodes.n1)).toEqual(digest);
  });

  test('moves the watermark when it is whole', async () => {
    const graph = await stage.chainOf(1, { incremental: true });
    const marks: (number | null)[] = [];
    const runner = defineRunner({
      templates: [graph.template],
      async run(task) {
        const handle = async (input: { readonly outputId: number }) => {
          await task.write(stream(), { identifier: `of-${input.outputId}`, watermark: input.outputId });
        };
        await task.eachNewInput(handle, { advance: 'by-hand' });
        marks.push(task.watermark.current, await task.watermark.pendingInputs());
      },
    });
    const { body } = await stage.upload(graph, 'input', 'go');
    await stage.start(runner);
    await stage.until(graph, 'n1', 'Succeeded');
    expect(marks).toEqual([body.id, 0]);
  });

  test('whose source fails leaves no upload open', async () => {
    const { graph, proxy, start } = await oneNode(async (task) => {
      async function* broken() {
        yield* stream();
        throw new Error('the source broke');
      }
      await task.write(broken());
    });
    await start();
    await stage.upload(graph, 'input', 'go');
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('error: the source broke');
    expect(proxy.count(/^DELETE .*uploads/)).toBe(1);
  });

  test('is compressed on the way where that is asked for', async () => {
    const { graph, start } = await oneNode(async (task) => {
      const { sizeBytes } = await task.write(stream(), { gzip: true, contentType: 'text/plain' });
      await task.write(`compressed: ${sizeBytes < mebibytes}`, { identifier: 'size' });
    });
    await start();
    await stage.upload(graph, 'input', 'go');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.latest(graph, 'n1')).toBe('compressed: true');
  });
});
