/** Files into nodes, and what is listed of them. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { PlatformClient } from '../../cli/platform-client.ts';
import { s3Client } from '../support/bucket.ts';
import { openGate } from '../support/network/gate.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { type Breaks, brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { folder, runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
const brokenLine = (breaks: Breaks) => brokenLineTo(api.url, breaks);

function fileOf(name: string, content: string): string {
  mkdirSync(join(folder, 'files'), { recursive: true });
  const path = join(folder, 'files', name);
  writeFileSync(path, content);
  return path;
}

const outputsOf = async (graph: StageGraph) => {
  const { out } = await sdp(['outputs', 'list', String(graph.nodes.input), '--json']);
  return JSON.parse(out) as Array<{
    id: number;
    dataPath: string;
    outputIdentifier: string;
    contentType: string;
  }>;
};

describe('sdp upload', () => {
  test('sends several files to the input node of a session, and a repeated command sends none', async () => {
    const graph = await stage.chainOf(1);
    const files = ['one.csv', 'two.json', 'three', 'four.JSONL', 'five.csv.gz'].map((name) =>
      fileOf(name, `bytes of ${name}`),
    );
    const first = await sdp([
      'upload',
      graph.sessionId,
      ...files,
      '--json',
      '--metadata',
      '{\n  "lap": "ü\u007f"\n}',
    ]);
    expect([first.code, JSON.parse(first.out).uploads.length]).toEqual([0, 5]);
    const outputs = await outputsOf(graph);
    expect(outputs.map(({ contentType }) => contentType).sort()).toEqual([
      'application/gzip',
      'application/json',
      'application/octet-stream',
      'application/x-ndjson',
      'text/csv',
    ]);
    expect(outputs[0]).toMatchObject({ metadata: { lap: 'ü\u007f' } });
    const again = await sdp(['upload', String(graph.nodes.input), ...files]);
    expect(again.err.match(/already stored as output/g)).toHaveLength(5);
    expect(await outputsOf(graph)).toEqual(outputs);
  });

  test('with --json prints failures as JSON documents, and nothing beside them', async () => {
    const graph = await stage.chainOf(1);
    const url = await brokenLine((asked, count) => {
      if (!asked.startsWith('POST ')) return undefined;
      return count <= 2 ? 503 : 403;
    });
    const files = [fileOf('json-a.csv', 'a'), fileOf('json-b.csv', 'b')];
    const { code, err } = await sdp(['upload', graph.sessionId, ...files, '--json'], { SDP_URL: url });
    expect(code).toBe(1);
    const documents = err
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).error.status);
    expect(documents).toEqual([403, 403]);
  });

  test('sends a file again whose bytes the store has lost', async () => {
    const graph = await stage.chainOf(1);
    const file = fileOf('lost.csv', 'a\n1\n');
    expect((await sdp(['upload', graph.sessionId, file])).code).toBe(0);
    const [first] = await outputsOf(graph);
    const s3 = s3Client(stage.platform.environment);
    await s3.send(new DeleteObjectCommand({ Bucket: stage.platform.s3.bucket, Key: first!.dataPath }));
    s3.destroy();
    const again = await sdp(['upload', graph.sessionId, file]);
    expect([again.code, again.err]).toEqual([0, expect.stringContaining(`: output ${first!.id} (`)]);
    expect((await sdp(['outputs', 'download', String(first!.id), '--out', '-'])).out).toBe('a\n1\n');
    expect((await sdp(['upload', graph.sessionId, file])).err).toContain('already stored');
  });

  test('takes a token from a file with Windows line ends', async () => {
    const graph = await stage.chainOf(1);
    const token = { SDP_TOKEN: `${people.adminToken}\r` };
    expect(await sdp(['upload', graph.sessionId, fileOf('cr.csv', 'x')], token)).toMatchObject({ code: 0 });
  });

  test('sends a file again when its type or metadata have changed', async () => {
    const graph = await stage.chainOf(1);
    const file = fileOf('changed.csv', 'a\n1\n');
    expect((await sdp(['upload', graph.sessionId, file])).code).toBe(0);
    const [first] = await outputsOf(graph);
    const type = ['--content-type', 'text/tab-separated-values'];
    const lap = ['--metadata', '{"lap":7,"tyre":{"a":1,"b":2}}'];
    const changed = await sdp(['upload', graph.sessionId, file, ...type, ...lap]);
    expect([changed.code, changed.err]).toEqual([0, expect.stringContaining(`: output ${first!.id} (`)]);
    expect(await outputsOf(graph)).toMatchObject([
      {
        outputIdentifier: first!.outputIdentifier,
        contentType: 'text/tab-separated-values',
        metadata: { lap: 7, tyre: { a: 1, b: 2 } },
      },
    ]);
    const others = ['--metadata', '{"tyre":{"b":2,"a":1},"lap":7}'];
    const again = await sdp(['upload', graph.sessionId, file, ...type, ...others]);
    expect(again.err).toContain(`already stored as output ${first!.id}`);
    // What is not said is not compared.
    expect((await sdp(['upload', graph.sessionId, file, ...type])).err).toContain('already stored');
  });

  test('asks a node for the outputs of its files alone, and sends the missing ones', async () => {
    const graph = await stage.chainOf(1);
    const path = `/api/v2/node-instance/${graph.nodes.input}/outputs`;
    const files = ['a.csv', 'b.csv', 'c.csv'].map((name) => fileOf(name, `bytes of ${name}`));
    expect((await sdp(['upload', graph.sessionId, files[0]!])).code).toBe(0);
    const asked: string[] = [];
    const url = await brokenLine((what, _count, search) => void asked.push(`${what}${search}`));
    const ended = await sdp(['upload', graph.sessionId, ...files], { SDP_URL: url });
    expect([ended.code, ended.err.match(/already stored as output/g)]).toEqual([0, [expect.any(String)]]);
    const outputs = await outputsOf(graph);
    const named = outputs.map(({ outputIdentifier }) => `GET ${path}?identifier=${outputIdentifier}`);
    expect(asked.filter((what) => what.startsWith(`GET ${path}`)).sort()).toEqual(named.sort());
    expect(asked.filter((what) => what === `POST ${path}/data`)).toHaveLength(2);
  });

  test('retries broken uploads, says why, and finds those that had arrived', async () => {
    const graph = await stage.chainOf(1);
    const path = `POST /api/v2/node-instance/${graph.nodes.input}/outputs/data`;
    const url = await brokenLine((asked, count) => {
      if (asked !== path || count > 2) return undefined;
      return count === 1 ? 'before' : 'after';
    });
    const file = fileOf('broken.csv', 'a,b\n1,2\n');
    const ended = await sdp(['upload', graph.sessionId, file], { SDP_URL: url });
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('already stored as output')]);
    expect(ended.err).toMatch(
      /broken\.csv: \S.+\. Attempt 2 of 6 follows\.\n.*\. Attempt 3 of 6 follows\.\n/,
    );
    const [output, ...others] = await outputsOf(graph);
    expect(others).toEqual([]);
    const saved = join(folder, 'saved.csv');
    expect((await sdp(['outputs', 'download', String(output!.id), '-o', saved])).code).toBe(0);
    expect(readFileSync(saved, 'utf8')).toBe('a,b\n1,2\n');
    const lineage = await sdp(['outputs', 'lineage', String(output!.id)]);
    expect(lineage.out).toContain(`Output    ${output!.id} (${output!.outputIdentifier})`);
  });

  test('saves under the name of an output no hidden file, and replaces none that is there', async () => {
    const graph = await stage.chainOf(1);
    const cwd = mkdtempSync(join(folder, 'hidden-'));
    await stage.upload(graph, 'input', 'alias ls=x', { 'x-platform-output-identifier': '..bashrc' });
    const [output] = await outputsOf(graph);
    const download = (...args: string[]) =>
      runSdp(
        ['outputs', 'download', String(output!.id), ...args],
        { SDP_URL: api.url, SDP_TOKEN: people.adminToken },
        '',
        cwd,
      );
    expect((await download()).code).toBe(0);
    expect(readdirSync(cwd)).toEqual(['bashrc']);
    writeFileSync(join(cwd, 'bashrc'), 'own');
    for (const args of [[], ['-o', '.']])
      expect(await download(...args)).toMatchObject({
        code: 1,
        err: 'bashrc exists. Name the file in the command to replace it.\n',
      });
    expect(readFileSync(join(cwd, 'bashrc'), 'utf8')).toBe('own');
    expect((await download('-o', 'bashrc')).code).toBe(0);
    expect(readFileSync(join(cwd, 'bashrc'), 'utf8')).toBe('alias ls=x');
  });

  test('goes on with a long file where the line broke, also in another command', async () => {
    const graph = await stage.chainOf(1);
    const bytes = randomBytes(40 * 1024 * 1024);
    const file = join(folder, 'long.bin');
    writeFileSync(file, bytes);
    const gate = await openGate(api.url);
    const through = { SDP_URL: gate.url };
    gate.set({ kind: 'cut', direction: 'requests', afterBytes: 18 * 1024 * 1024 });
    const lap = ['--metadata', '{"lap":"ü"}'];
    for (const said of [lap, ['--metadata', '{"lap":"other"}']]) {
      const broken = await sdp(['upload', graph.sessionId, file, '--retries', '0', ...said], through);
      expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('failed')]);
    }
    const before = gate.treated;
    const ended = await sdp(['upload', graph.sessionId, file, ...lap], through);
    expect([ended.code, gate.treated - before]).toEqual([0, 1]);
    expect(ended.err).toMatch(/long\.bin: output \d+ \(40\.0 MB, resumed at \d\d\.\d MB\)/);
    await gate.close();
    const [output, ...others] = await outputsOf(graph);
    expect([output, others]).toMatchObject([{ metadata: { lap: 'ü' } }, []]);
    const saved = join(folder, 'long.saved');
    expect((await sdp(['outputs', 'download', String(output!.id), '-o', saved])).code).toBe(0);
    expect(readFileSync(saved).equals(bytes)).toBe(true);
    const again = await sdp(['upload', graph.sessionId, file]);
    expect(again.err).toContain('already stored as output');
  });

  test('goes on with a long file after an expired token, and after refusals by a proxy', async () => {
    const graph = await stage.chainOf(1);
    const file = fileOf('refused.bin', 'x'.repeat(17 * 1024 * 1024));
    const asked: string[] = [];
    let refusals: number[] = [];
    const url = await brokenLine((what, count) => {
      asked.push(what);
      if (what.startsWith('HEAD ')) return refusals.shift();
      return what.startsWith('PATCH ') && count === 1 ? 'before' : undefined;
    });
    const upload = (retries: string) =>
      sdp(['upload', graph.sessionId, file, '--retries', retries], { SDP_URL: url });
    expect((await upload('0')).code).toBe(1);
    refusals = [401];
    expect((await upload('0')).err).toContain('401');
    refusals = [429, 502];
    expect((await upload('2')).code).toBe(0);
    expect(asked.filter((what) => /^POST .*\/uploads$/.test(what))).toHaveLength(1);
    expect(await outputsOf(graph)).toHaveLength(1);
  });

  test('takes only media types, since any other text would be stored as raw bytes', async () => {
    const file = fileOf('typed.csv', 'a\n1\n');
    for (const args of [
      ['upload', '1', file],
      ['ingest', 'rigs', file],
    ]) {
      const wrong = await sdp([...args, '--content-type', 'csv']);
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('as in text/csv')]);
    }
    const { nodes } = await stage.chainOf(1);
    const right = await sdp(['upload', `${nodes.input}`, file, '--content-type', 'text/csv; charset=utf-8']);
    expect(right.code).toBe(0);
  });

  test('sends all files although the reader of its messages leaves', async () => {
    const graph = await stage.chainOf(1);
    const files = [1, 2, 3, 4, 5, 6].map((number) => fileOf(`left-${number}.csv`, `a\n${number}\n`));
    const { nodes } = graph;
    const running = startSdp(['upload', `${nodes.input}`, ...files, '--parallel', '1'], {
      SDP_URL: api.url,
      SDP_TOKEN: people.adminToken,
    });
    running.stopReading();
    expect((await running.ended).code).toBe(0);
    expect(await outputsOf(graph)).toHaveLength(6);
  });

  test('names a file that can no longer be read, and blames no connection', async () => {
    const { nodes } = await stage.chainOf(1);
    const platform = new PlatformClient(api.url, { token: () => people.adminToken });
    // The first byte of this file cannot be read.
    const sent = platform.upload(nodes.input!, '/proc/self/mem', {}, () => undefined);
    await expect(sent).rejects.toThrow('/proc/self/mem cannot be read: EIO');
  });

  test('does not retry a refused upload, and ends with 1', async () => {
    const graph = await stage.chainOf(1);
    await sdp(['sessions', 'freeze', graph.sessionId]);
    const ended = await sdp(['upload', graph.sessionId, fileOf('late.csv', 'x')]);
    expect([ended.code, ended.err]).toEqual([
      1,
      expect.stringMatching(/Session is frozen\. \(400, request [\s\S]+\n1 of 1 files failed\.\n$/),
    ]);
    expect((await sdp(['upload', graph.sessionId, '/nowhere'])).err).toBe('File not found: /nowhere.\n');
    expect((await sdp(['ingest', 'rigs/3', '/nowhere'])).err).toBe('File not found: /nowhere.\n');
    expect((await sdp(['upload', graph.sessionId, folder])).err).toContain(`${folder} is a folder.`);
    expect((await sdp(['upload', graph.sessionId, '--node', 'x', fileOf('a', 'a')])).code).toBe(2);
  });
});
