/** What a runner reads: pages, decoded bytes, and new inputs of an incremental node. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { defineRunner, type Input, type RunResult, type Task } from '../../sdk/index.ts';
import type { TemplateOptions } from '../support/graph.ts';
import { upload } from '../support/graph.ts';
import { kitStage } from './support/kit-stage.ts';

const cap = 3;
const stage = await kitStage({ INCREMENTAL_MAX_INPUTS: String(cap) });

/** A graph of one node below its input, uploads to it, and then a runner for it. */
async function oneNode(
  uploads: readonly (readonly [string | Uint8Array, Record<string, string>?])[],
  options: TemplateOptions,
  run: (task: Task) => Promise<RunResult>,
) {
  const graph = await stage.chainOf(1, { maxAttempts: 1, ...options });
  for (const [bytes, headers] of uploads) await stage.upload(graph, 'input', bytes, headers);
  await stage.start(defineRunner({ templates: [graph.template], run }));
  return graph;
}

describe('inputs', () => {
  test('come by pages, all of them and in order', async () => {
    const graph = await stage.chainOf(1);
    const sent: number[] = [];
    for (let n = 0; n < 120; n += 1) sent.push((await upload(stage.database, graph, 'input')).output.id);
    const seen: number[] = [];
    await stage.start(
      defineRunner({
        templates: [graph.template],
        async run(task) {
          for await (const input of task.inputs('all')) seen.push(input.outputId);
        },
      }),
    );
    await stage.until(graph, 'n1', 'Succeeded');
    expect(seen).toEqual(sent);
  });

  test('are read as bytes, text, JSON and streams, decoded where they are stored compressed', async () => {
    const value = { text: 'größer ✓', rows: [1, 2, 3] };
    const json = JSON.stringify(value);
    const packed = gzipSync(json);
    const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const seen: unknown[] = [];
    const graph = await oneNode([[json], [packed, gzip], ['']], {}, async (task) => {
      const inputs: Input[] = [];
      for await (const input of task.inputs('all')) inputs.push(input);
      const [plain, compressed, empty] = inputs as [Input, Input, Input];
      seen.push(await plain.json(), await compressed.json(), await empty.text());
      seen.push(compressed.contentType, compressed.contentEncoding, compressed.sizeBytes);
      seen.push(Buffer.concat(await compressed.stream({ raw: true }).toArray()).equals(packed));
      seen.push(await plain.bytes({ maxBytes: 10 }).catch((error: Error) => error.name));
    });
    await stage.until(graph, 'n1', 'Succeeded');
    expect(seen).toEqual([value, value, '', 'application/json', 'gzip', packed.length, true, 'RangeError']);
  });

  test('that are broken gzip are invalid, and the task says so', async () => {
    const packed = gzipSync('x'.repeat(10_000));
    packed.fill(0, 20, 24);
    const graph = await oneNode([[packed, { 'content-encoding': 'gzip' }]], {}, async (task) => {
      for await (const input of task.inputs()) await input.text();
    });
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toMatch(
      /^validation: its gzip is broken: (incorrect|invalid|unexpected)/,
    );
  });

  test('that are cut gzip fail their reader alone, which may go on', async () => {
    const cut = gzipSync(randomBytes(200_000)).subarray(0, 100_000);
    const graph = await oneNode([[cut, { 'content-encoding': 'gzip' }]], {}, async (task) => {
      for await (const input of task.inputs())
        await task.write(await input.text().catch((error: Error) => error.message));
    });
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.latest(graph, 'n1')).toContain('unexpected end of file');
  });

  test('that nobody reads to their end leave nothing under way', async () => {
    const graph = await oneNode([[Buffer.alloc(8 * 1024 * 1024)]], {}, async (task) => {
      for await (const input of task.inputs()) {
        for await (const chunk of input.stream()) {
          await task.write(chunk as Buffer);
          break;
        }
      }
    });
    await stage.until(graph, 'n1', 'Succeeded');
  });
});

describe('the loop over new inputs', () => {
  test('takes them in tasks of the cap, and no input twice', async () => {
    const tasks: string[] = [];
    const uploads = Array.from({ length: 2 * cap + 1 }, (_, n) => [`${n}`] as const);
    const graph = await oneNode(uploads, { incremental: true }, async (task) => {
      const seen: string[] = [];
      const { hasMore } = await task.eachNewInput(async (input) => void seen.push(await input.text()));
      tasks.push(`${task.reason} ${seen.join('')} ${hasMore}`);
      await task.write(seen.join(), { identifier: `up-to-${task.watermark.current}` });
    });
    await stage.until(graph, 'n1', 'Succeeded');
    expect(tasks).toEqual(['input 012 true', 'follow-up 345 true', 'follow-up 6 false']);
  });

  test('moves the watermark with each output where the handler does that', async () => {
    const uploads = Array.from({ length: cap + 1 }, (_, n) => [`${n}`] as const);
    const graph = await oneNode(uploads, { incremental: true }, async (task) => {
      await task.eachNewInput(
        async (input) => {
          const options = { identifier: `of-${input.outputId}`, watermark: input };
          await task.write(`${await input.text()}!`, options);
        },
        { advance: 'by-hand' },
      );
    });
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.claims(graph, 'n1')).toHaveLength(2);
    expect(await stage.latest(graph, 'n1')).toBe(`${cap}!`);
  });

  test('keeps what was consumed when a later input fails, state included', async () => {
    const seen: unknown[] = [];
    const options = { incremental: true, maxAttempts: 2 };
    const graph = await oneNode([['1'], ['2'], ['x']], options, async (task) => {
      let sum = ((await task.state.get()) as { sum: number } | null)?.sum ?? 0;
      seen.push([task.attempt, sum]);
      await task.eachNewInput(async (input) => {
        const text = await input.text();
        if (text === 'x' && task.attempt === 1) throw new Error('not now');
        sum += Number(text) || 0;
        task.state.set({ sum });
      });
      await task.writeJson({ sum }, { identifier: 'sum' });
    });
    await stage.retryNow(graph, 'n1');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(seen).toEqual([
      [1, 0],
      [2, 3],
    ]);
  });
});

describe('outputs without an identifier', () => {
  test('are written once for each input, wherever an attempt breaks off', async () => {
    const options = { incremental: true, maxAttempts: 3 };
    const graph = await oneNode([['1'], ['2'], ['3']], options, async (task) => {
      await task.eachNewInput(async (input) => {
        const text = await input.text();
        if (text === '2' && task.attempt === 1) throw new Error('before the output');
        await task.write(`first of ${text}`);
        await task.write(`second of ${text}`);
        if (text === '3' && task.attempt === 2) throw new Error('before the watermark');
      });
    });
    await stage.retryNow(graph, 'n1');
    await stage.retryNow(graph, 'n1');
    await stage.until(graph, 'n1', 'Succeeded');
    const texts = await stage.outputs(graph, 'n1');
    expect(texts).toEqual(['1', '2', '3'].flatMap((text) => [`first of ${text}`, `second of ${text}`]));
  });

  test('are published also when a later attempt finds nothing left to do', async () => {
    const options = { incremental: true, maxAttempts: 2 };
    const graph = await oneNode([['1']], options, async (task) => {
      await task.eachNewInput(async (input) => void (await task.write(await input.text())));
      if (task.attempt === 1) throw new Error('after the last input');
    });
    await stage.retryNow(graph, 'n1');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.outputs(graph, 'n1')).toEqual(['1']);
  });
});
