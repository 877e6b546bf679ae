import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { folder, runSdp, startSdp } from './support.ts';

const stage = await runnerStage();
const { api, people } = stage;
const sdp = (args: readonly string[], environment: Record<string, string> = {}) =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment });

function fileOf(name: string, content: string): string {
  mkdirSync(join(folder, 'files'), { recursive: true });
  const path = join(folder, 'files', name);
  writeFileSync(path, content);
  return path;
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A way to the platform that breaks lines when the test says so. */
async function brokenLine(
  breaks: (path: string, count: number) => 'before' | 'after' | undefined,
): Promise<string> {
  const counts = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url!, api.url);
    const count = (counts.get(`${incoming.method} ${pathname}`) ?? 0) + 1;
    counts.set(`${incoming.method} ${pathname}`, count);
    const how = breaks(`${incoming.method} ${pathname}`, count);
    if (how === 'before') return void incoming.socket.destroy();
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url!, api.url), { method, headers }, (answer) => {
      if (how === 'after' && method === 'POST') return void incoming.socket.destroy();
      outgoing.writeHead(answer.statusCode!, answer.headers);
      // A stream that breaks after its first bytes.
      answer.on('data', (bytes) => {
        outgoing.write(bytes);
        if (how === 'after') setImmediate(() => incoming.socket.destroy());
      });
      answer.on('end', () => outgoing.end());
    });
    onward.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const outputsOf = async (graph: StageGraph) => {
  const { out } = await sdp(['outputs', 'list', String(graph.nodes.input), '--json']);
  return JSON.parse(out) as Array<{ id: number; outputIdentifier: string; contentType: string }>;
};

describe('sdp outputs list', () => {
  test('tells a node without outputs from one that is not there', async () => {
    const graph = await stage.chainOf(1);
    expect(await outputsOf(graph)).toEqual([]);
    const empty = await sdp(['outputs', 'list', String(graph.nodes.input)]);
    expect([empty.code, empty.out]).toEqual([0, 'No outputs yet.\n']);
    const wrong = await sdp(['outputs', 'list', '999999', '--json']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('Node instance not found.')]);
  });
});

describe('sdp upload', () => {
  test('sends several files to the input node of a session, and the same command again sends none', async () => {
    const graph = await stage.chainOf(1);
    const files = ['one.csv', 'two.json', 'three'].map((name) => fileOf(name, `bytes of ${name}`));
    const first = await sdp(['upload', graph.sessionId, ...files, '--json', '--metadata', '{"lap":"ü"}']);
    expect([first.code, JSON.parse(first.out).uploads.length]).toEqual([0, 3]);
    const outputs = await outputsOf(graph);
    expect(outputs.map(({ contentType }) => contentType).sort()).toEqual([
      'application/json',
      'application/octet-stream',
      'text/csv',
    ]);
    expect(outputs[0]).toMatchObject({ metadata: { lap: 'ü' } });
    const again = await sdp(['upload', String(graph.nodes.input), ...files]);
    expect(again.err.match(/already there as output/g)).toHaveLength(3);
    expect(await outputsOf(graph)).toEqual(outputs);
  });

  test('reads once what a node has, however many files it is given, and sends those that are not there', async () => {
    const graph = await stage.chainOf(1);
    const path = `/api/v2/node-instance/${graph.nodes.input}/outputs`;
    const files = ['a.csv', 'b.csv', 'c.csv', 'd.csv'].map((name) => fileOf(name, `bytes of ${name}`));
    expect((await sdp(['upload', graph.sessionId, files[0]!, files[2]!])).code).toBe(0);
    const asked: string[] = [];
    const others: Promise<unknown>[] = [];
    const url = await brokenLine((what) => {
      // Another writer adds one of the files, and one of its own, while they are on their way.
      if (what === `POST ${path}/data` && !asked.includes(what))
        others.push(sdp(['upload', graph.sessionId, files[1]!, fileOf('other.csv', 'of another')]));
      asked.push(what);
      return undefined;
    });
    const ended = await sdp(['upload', graph.sessionId, ...files, '--parallel', '2'], { SDP_URL: url });
    await Promise.all(others);
    expect([ended.code, ended.err.match(/already there as output/g)]).toEqual([
      0,
      Array(2).fill(expect.any(String)),
    ]);
    expect(asked.filter((what) => what === `GET ${path}`)).toHaveLength(1);
    expect(asked.filter((what) => what === `POST ${path}/data`)).toHaveLength(2);
    const names = (await outputsOf(graph)).map(({ outputIdentifier }) => outputIdentifier.split('-')[0]);
    expect(names.sort()).toEqual(['a.csv', 'b.csv', 'c.csv', 'd.csv', 'other.csv']);
    const again = await sdp(['upload', graph.sessionId, ...files]);
    expect(again.err.match(/already there as output/g)).toHaveLength(4);
  });

  test('tries again what broke, and finds what had arrived all the same', async () => {
    const graph = await stage.chainOf(1);
    const path = `POST /api/v2/node-instance/${graph.nodes.input}/outputs/data`;
    const url = await brokenLine((asked, count) => {
      if (asked !== path || count > 2) return undefined;
      return count === 1 ? 'before' : 'after';
    });
    const file = fileOf('broken.csv', 'a,b\n1,2\n');
    const ended = await sdp(['upload', graph.sessionId, file], { SDP_URL: url });
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('already there as output')]);
    const [output, ...others] = await outputsOf(graph);
    expect(others).toEqual([]);
    const saved = join(folder, 'saved.csv');
    expect((await sdp(['outputs', 'download', String(output!.id), '-o', saved])).code).toBe(0);
    expect(readFileSync(saved, 'utf8')).toBe('a,b\n1,2\n');
    const lineage = await sdp(['outputs', 'lineage', String(output!.id)]);
    expect(lineage.out).toContain(`Output    ${output!.id} (${output!.outputIdentifier})`);
  });

  test('does not try again what is refused, and ends with 1', async () => {
    const graph = await stage.chainOf(1);
    await sdp(['sessions', 'freeze', graph.sessionId]);
    const ended = await sdp(['upload', graph.sessionId, fileOf('late.csv', 'x')]);
    expect([ended.code, ended.err]).toEqual([
      1,
      expect.stringContaining('Session is frozen. (400, request '),
    ]);
    expect((await sdp(['upload', graph.sessionId, '/nowhere'])).err).toBe('There is no file /nowhere.\n');
    expect((await sdp(['upload', graph.sessionId, '--node', 'x', fileOf('a', 'a')])).code).toBe(2);
  });
});

/** A watch that has seen the session as it stands; what comes after that it sees live. */
async function watch(graph: StageGraph, url = api.url, ...options: string[]) {
  const environment = { SDP_URL: url, SDP_TOKEN: people.adminToken };
  const args = ['sessions', 'watch', graph.sessionId, '--until-done', ...options];
  const { printed, ended } = startSdp(args, environment);
  await eventually('it shows the session', () => /participant/.test(printed.out));
  return { ended };
}

describe('sdp sessions watch', () => {
  test('ends with 0 when all nodes have succeeded, over a line that breaks and without telling twice', async () => {
    const graph = await stage.chainOf(1);
    const url = await brokenLine((asked, count) =>
      asked.endsWith('/events') && count <= 2 ? 'after' : undefined,
    );
    const watching = await watch(graph, url);
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    const { code, out, err } = await watching.ended;
    expect([code, err]).toEqual([0, '']);
    expect(out.match(/n1: Succeeded/g)).toHaveLength(1);
  });

  test('ends with 1 when a node has failed, and prints events as lines for programs', async () => {
    const graph = await stage.chainOf(1);
    const watching = await watch(graph, api.url, '--json');
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'Row 7.' });
    const { code, out } = await watching.ended;
    expect(code).toBe(1);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ event: 'node', data: { name: 'n1', state: 'Failed' } });
  });

  test('is refused for a session that is not there', async () => {
    const { code, err } = await sdp(['sessions', 'watch', '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10']);
    expect([code, err]).toEqual([1, expect.stringContaining('Session not found. (404, request ')]);
  });
});

test('reports are listed and saved under the name that the platform gives them', async () => {
  const saved = await sdp(['reports', 'download', '--format', 'csv', '-o', '-']);
  const listed = await sdp(['reports', 'list']);
  expect([saved.code, listed.code]).toEqual([0, 0]);
  expect(listed.out).toMatch(/^KEY +NAME +DEFAULT/);
});

describe('sdp doctor', () => {
  test('finds nothing wrong with a platform that is well', async () => {
    const { code, out } = await sdp(['doctor', '--json']);
    const { findings } = JSON.parse(out) as { findings: Array<{ part: string; state: string }> };
    expect(findings.filter(({ state }) => !['ok', 'skipped'].includes(state))).toEqual([]);
    expect([code, findings.map(({ part }) => part)]).toEqual([
      0,
      expect.arrayContaining(['API', 'database and storage', 'interface', 'clock', 'sign-in']),
    ]);
    expect(out).not.toContain(people.adminToken);
  });

  test('says what is wrong and what to do, for a platform that is away and a token that is not valid', async () => {
    const away = await sdp(['doctor'], { SDP_URL: 'http://127.0.0.1:1' });
    expect([away.code, away.out]).toEqual([
      1,
      expect.stringMatching(/API +wrong +does not answer[\s\S]*npm start/),
    ]);
    const wrong = await sdp(['doctor'], { SDP_TOKEN: 'x' });
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringMatching(/sign-in +wrong[\s\S]*sdp login/)]);
  });
});

test('the shell completes commands, subcommands and options', async () => {
  const { out: script } = await sdp(['completion', 'bash']);
  const complete = (...words: string[]) => {
    const test = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sdp; echo "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', `${script}\n${test}`], { encoding: 'utf8' }).stdout.trim();
  };
  expect(complete('sdp', 'se')).toBe('sessions');
  expect(complete('sdp', 'sessions', 'un')).toBe('unfreeze');
  expect(complete('sdp', 'sessions', 'watch', '--u')).toBe('--url --until-done');
  expect((await sdp(['completion', 'zsh'])).out).toContain('#compdef sdp');
});
