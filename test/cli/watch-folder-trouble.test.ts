/** Both agents of capture machines with wrong clocks, odd names, and folders that go away. */
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../python/environment.ts';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { runnerStage } from '../support/runner.ts';
import { brokenLineTo } from './broken-line.ts';
import { captures, mebibyte, outputsOf, sha256 } from './capture-agent.ts';
import { commandLine } from './support.ts';

interface Agent {
  readonly code: Promise<number | string | null>;
  readonly text: () => string;
  readonly stop: () => Promise<unknown>;
}
type Start = (path: string, args: readonly string[], url?: string, token?: string) => Agent;

const { folder, startSdp } = commandLine();
const { python = 'python3', missing } = pythonEnvironment();
const stage = await runnerStage();
const { api, people } = stage;
const processes = testProcesses({ PYTHONUNBUFFERED: '1' });
const environment = (url: string, token = people.offlineToken) => ({ SDP_URL: url, SDP_TOKEN: token });

const rows = 10;
const settleMs = 1_000;

/** Writes a file row by row. @returns whether it never rested for as long as a complete file does */
async function grow(path: string, modifiedAt: number): Promise<boolean> {
  let [maxMs, last] = [0, performance.now()];
  for (let row = 0; row < rows; row++) {
    appendFileSync(path, `${row}\n`);
    utimesSync(path, modifiedAt, modifiedAt);
    const now = performance.now();
    [maxMs, last] = [Math.max(maxMs, now - last), now];
    await delay(settleMs * 0.4);
  }
  return maxMs < settleMs * 0.8;
}

const stopped = async (code: Agent['code'], kill: () => unknown) => {
  kill();
  return await code;
};

const commandLineAgent: Start = (path, args, url = api.url, token) => {
  const running = startSdp(
    ['watch-folder', path, '--settle', String(settleMs / 1000), ...args],
    environment(url, token),
  );
  const code = running.ended.then((ended) => ended.code);
  return { code, text: () => running.printed.err, stop: () => stopped(code, () => running.kill('SIGTERM')) };
};
const pythonAgent: Start = (path, args, url = api.url, token) => {
  const running = processes.startScript('-m', environment(url, token), {
    program: python,
    args: ['sdp.watch_folder', path, '--settle', String(settleMs / 1000), ...args],
  });
  const code = running.ended;
  return { code, text: () => running.log(), stop: () => stopped(code, () => running.kill('SIGINT')) };
};

describe.each([
  { name: 'cli', start: commandLineAgent, isMissing: false },
  { name: 'python', start: pythonAgent, isMissing: missing !== '' },
])('the agent: $name', ({ name, start, isMissing }) => {
  const path = (of: string) => join(folder, `${name}-${of}`);

  test.skipIf(isMissing)('sends files by what it sees, whatever clock wrote their times', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('clocks'), { 'ahead.csv': 'a\n1\n' });
    const [ahead, behind] = [Date.now() / 1000 + 18_000, Date.now() / 1000 - 18_000];
    utimesSync(join(watched, 'ahead.csv'), ahead, ahead);
    const agent = start(watched, ['--session', graph.sessionId]);
    await eventually('the first is sent', async () => agent.text().includes('ahead.csv: output'));
    let name = '';
    // Where the machine pauses, the file rests, and may be sent.
    for (let isSteady = false, tries = 1; !isSteady; tries++) {
      name = `grows-${tries}.csv`;
      isSteady = await grow(join(watched, name), behind);
    }
    await eventually('the second is sent', async () => agent.text().includes(`${name}: output`));
    await agent.stop();
    const whole = Array.from({ length: rows }, (_, row) => `${row}\n`).join('');
    expect(agent.text().split(`${name}: output`)).toHaveLength(2);
    expect((await outputsOf(stage, graph)).map((output) => output.sha256)).toEqual(
      expect.arrayContaining(['a\n1\n', whole].map(sha256)),
    );
  });

  test.skipIf(isMissing)('says by its exit code that a sent file could not be moved', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('unmovable'), { 'a.csv': 'a\n1\n' });
    writeFileSync(path('no-folder'), '');
    const agent = start(watched, ['--session', graph.sessionId, '--once', '--move-to', path('no-folder')]);
    expect([await agent.code, agent.text()]).toEqual([
      1,
      expect.stringMatching(/a\.csv: output \d+\na\.csv: /),
    ]);
  });

  test.skipIf(isMissing)('sends and moves files although it can note nothing on its own disk', async () => {
    const graph = await stage.chainOf(1);
    const files = { 'a.csv': 'a\n1\n', 'b.bin': Buffer.alloc(17 * mebibyte, name) };
    const watched = captures(path('full'), files);
    symlinkSync(path('no-disk/journal'), join(watched, '.sdp-sent.jsonl'));
    // Where the command line notes unfinished uploads.
    mkdirSync(join(folder, 'sdp'), { recursive: true });
    rmSync(join(folder, 'sdp/uploads'), { recursive: true, force: true });
    writeFileSync(join(folder, 'sdp/uploads'), '');
    const agent = start(watched, ['--session', graph.sessionId, '--once', '--move-to', path('moved')]);
    const code = await agent.code;
    rmSync(join(folder, 'sdp/uploads'));
    expect(code, agent.text()).toBe(0);
    expect(agent.text()).toMatch(/a\.csv: it was sent, but this could not be noted in the folder: /);
    expect(readdirSync(path('moved'))).toEqual(['a.csv', 'b.bin']);
    expect(await outputsOf(stage, graph)).toHaveLength(2);
  });

  test.skipIf(isMissing)('moves a file that it cannot mark, and says so', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('unmarked'), { 'a.csv': 'a\n1\n' });
    mkdirSync(join(watched, 'a.csv.sent'));
    const to = ['--move-to', path('moved-unmarked'), '--mark'];
    const agent = start(watched, ['--session', graph.sessionId, '--once', ...to]);
    expect(await agent.code, agent.text()).toBe(0);
    expect(agent.text()).toMatch(/a\.csv: .*a\.csv\.sent/);
    expect(readdirSync(path('moved-unmarked'))).toEqual(['a.csv']);
  });

  test.skipIf(isMissing)(
    'sends and moves a file whose name has no room for that of its metadata',
    async () => {
      const graph = await stage.chainOf(1);
      const long = `${'ü'.repeat(125)}.csv`;
      const watched = captures(path('long'), { [long]: 'a\n1\n' });
      const to = ['--move-to', path('moved-long'), '--pattern', '(?<letter>.)'];
      const agent = start(watched, ['--session', graph.sessionId, '--once', ...to]);
      expect(await agent.code, agent.text()).toBe(0);
      expect(readdirSync(path('moved-long'))).toEqual([long]);
      expect(await outputsOf(stage, graph)).toMatchObject([{ metadata: { letter: 'ü' } }]);
    },
  );

  test.skipIf(isMissing)('ends with --once when its token is refused', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('refused'), { 'a.csv': 'a\n1\n' });
    const agent = start(watched, ['--session', graph.sessionId, '--once'], api.url, 'no-token');
    expect(await agent.code).toBe(1);
    expect(agent.text()).toContain('A valid bearer token is required.');
  });

  test.skipIf(isMissing)('moves nothing into its own folder, and takes no node for an ingest', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('itself'), { 'a.csv': 'a\n1\n' });
    const agent = start(watched, ['--session', graph.sessionId, '--once', '--move-to', `${watched}/.`]);
    expect([await agent.code, agent.text()]).toEqual([
      2,
      expect.stringContaining('must name another folder'),
    ]);
    expect(readdirSync(watched)).toEqual(['a.csv']);
    const ingest = start(watched, ['--ingest', 'rigs/3', '--once', '--node', 'telemetry']);
    expect([await ingest.code, ingest.text()]).toEqual([
      2,
      expect.stringContaining('--node belongs to --session'),
    ]);
  });

  test.skipIf(isMissing)('goes on when its folder was away, and says so', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('share'), { 'a.csv': 'a\n1\n' });
    const agent = start(watched, ['--session', graph.sessionId]);
    await eventually('the first is sent', async () => agent.text().includes('a.csv: output'));
    renameSync(watched, `${watched}-away`);
    await eventually('it is missed', async () => /(ENOENT|No such file)/.test(agent.text()));
    writeFileSync(join(`${watched}-away`, 'b.csv'), 'a\n2\n');
    renameSync(`${watched}-away`, watched);
    await eventually('the second is sent', async () => agent.text().includes('b.csv: output'));
    await agent.stop();
    expect(await outputsOf(stage, graph)).toHaveLength(2);
  });

  test.skipIf(isMissing)('starts before the platform can be reached', async () => {
    const graph = await stage.chainOf(1);
    const watched = captures(path('early'), { 'a.csv': 'a\n1\n' });
    let isAway = true;
    const url = await brokenLineTo(api.url, () => (isAway ? 'before' : undefined));
    const agent = start(watched, ['--session', graph.sessionId, '--once'], url);
    await eventually('it has tried', async () => agent.text() !== '');
    isAway = false;
    expect(await agent.code, agent.text()).toBe(0);
    expect(await outputsOf(stage, graph)).toHaveLength(1);
  });

  test.skipIf(isMissing)(
    'a file that is written anew while it is sent is an output of its new bytes alone',
    async () => {
      const graph = await stage.chainOf(1);
      const [old, shorter, longer] = [18, 17, 19].map((mebibytes) => randomBytes(mebibytes * mebibyte));
      const watched = captures(path('anew'), { 'a.bin': old! });
      const next = [shorter!, longer!];
      const url = await brokenLineTo(api.url, (call) => {
        const bytes = call.startsWith('PATCH') ? next.shift() : undefined;
        if (bytes !== undefined) writeFileSync(join(watched, 'a.bin'), bytes);
        return undefined;
      });
      const agent = start(watched, ['--session', graph.sessionId, '--once', '--limit-rate', '8M'], url);
      expect(await agent.code, agent.text()).toBe(0);
      expect(agent.text()).toMatch(
        /^a\.bin: The file changed .*\na\.bin: The file changed .*\na\.bin: output \d+\n$/,
      );
      expect((await outputsOf(stage, graph)).map((output) => output.sha256)).toEqual([sha256(longer!)]);
    },
  );

  test.skipIf(isMissing)('new metadata of a long file that was sent before replace the old', async () => {
    const graph = await stage.chainOf(1);
    const side = (driver: string) => JSON.stringify({ driver });
    const watched = captures(path('metadata'), {
      'a.bin': Buffer.alloc(17 * mebibyte, name),
      'a.bin.meta.json': side('ANN'),
    });
    const args = ['--session', graph.sessionId, '--once'];
    expect(await start(watched, args).code).toBe(0);
    writeFileSync(join(watched, 'a.bin.meta.json'), side('BEA'));
    utimesSync(join(watched, 'a.bin'), 1_700_000_000, 1_700_000_000);
    expect(await start(watched, args).code).toBe(0);
    expect(await outputsOf(stage, graph)).toMatchObject([{ metadata: { driver: 'BEA' } }]);
  });

  test.skipIf(isMissing)(
    'does not send what another agent of its folder has sent, whose metadata are moved',
    async () => {
      const graph = await stage.chainOf(1);
      const watched = captures(path('two'), { 'first.csv': 'a\n1\n' });
      const agent = start(watched, ['--session', graph.sessionId]);
      await eventually('the first is sent', async () => agent.text().includes('first.csv: output'));
      const unfinished = join(watched, 'by-other.csv.part');
      writeFileSync(unfinished, 'a\n2\n');
      const { size: sizeBytes, mtimeMs: modifiedAtMs } = statSync(unfinished);
      const sent = { file: 'by-other.csv', sizeBytes, modifiedAtMs, identifier: 'by-other', outputId: 1 };
      appendFileSync(join(watched, '.sdp-sent.jsonl'), `\n${JSON.stringify(sent)}\n`);
      renameSync(unfinished, join(watched, 'by-other.csv'));
      writeFileSync(join(watched, 'last.csv'), 'a\n3\n');
      await eventually('the last is sent', async () => agent.text().includes('last.csv: output'));
      await agent.stop();
      expect(agent.text()).not.toContain('by-other.csv');
      expect(await outputsOf(stage, graph)).toHaveLength(2);
    },
  );
});

test('a name that is no UTF-8 text is reported', async () => {
  const graph = await stage.chainOf(1);
  const watched = join(folder, 'names');
  mkdirSync(watched);
  writeFileSync(
    Buffer.concat([Buffer.from(`${watched}/bad`), Buffer.from([0xff]), Buffer.from('.csv')]),
    'a\n1\n',
  );
  const agent = commandLineAgent(watched, ['--session', graph.sessionId, '--once']);
  expect([await agent.code, agent.text()]).toEqual([1, expect.stringContaining('is no UTF-8 text')]);
});

test.skipIf(missing !== '')('both read one journal, whatever the names', async () => {
  const graph = await stage.chainOf(1);
  const watched = captures(join(folder, 'journal'), { 'lap\u2028one\u0085.csv': 'a\n1\n' });
  const args = ['--session', graph.sessionId, '--once'];
  expect(await commandLineAgent(watched, args).code).toBe(0);
  const second = pythonAgent(watched, args);
  expect([await second.code, second.text()]).toEqual([0, '']);
});
