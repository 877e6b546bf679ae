/** The agent of a capture machine in Python: each file once, whatever happens to agent, line and platform. */
import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { brokenLineTo } from '../cli/broken-line.ts';
import {
  archiveElsewhere,
  captures,
  hasOtherDisk,
  type Life,
  livesOf,
  mebibyte,
  outputsOf,
  sha256,
} from '../cli/capture-agent.ts';
import { ingestedInto, managedIngest } from '../cli/managed-ingest.ts';
import { eventually } from '../support/eventually.ts';
import { type TestProcess, testProcesses } from '../support/processes.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { pythonEnvironment } from './environment.ts';

const { python = 'python3', missing } = pythonEnvironment();
const folder = mkdtempSync(join(tmpdir(), 'sdp-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing !== '')(`the agent in Python${missing === '' ? '' : ` (${missing})`}`, async () => {
  const stage = await runnerStage();
  const { api, people } = stage;
  const processes = testProcesses({ PYTHONUNBUFFERED: '1' });

  const started = (path: string, args: readonly string[], variables: Record<string, string>): TestProcess =>
    processes.startScript('-m', variables, {
      program: python,
      args: ['sdp.watch_folder', path, '--settle', '1', ...args],
    });
  const agent = (path: string, graph: StageGraph, args: readonly string[] = [], url = api.url) =>
    started(path, ['--session', graph.sessionId, ...args], { SDP_URL: url, SDP_TOKEN: people.offlineToken });

  /** An agent that is killed at its requests, and fails in no other way. */
  const lifeOf = (running: TestProcess): Life => ({
    kill: (signal) => running.kill(signal),
    isDone: running.ended.then((end) => {
      if (end !== 0) expect(end, running.log()).toBe('SIGKILL');
      return end === 0;
    }),
  });

  test('sends what is complete, oldest first, with metadata, and moves and marks it', async () => {
    const graph = await stage.chainOf(1);
    const path = captures(join(folder, 'ordered'), {
      'MARIA-2.csv': 'a\n2\n',
      'MARIA-1.csv': 'a\n1\n',
      'MARIA-1.csv.meta.json': '{"lap":"first","tyre":{"compound":"süß\u007f"}}',
      'cut.csv.part': 'not yet',
      '.hidden': 'x',
    });
    const moved = join(path, 'sent');
    const running = agent(path, graph, [
      '--pattern',
      '(?<driver>[A-Z]+)-(?<lap>\\d+)',
      '--move-to',
      moved,
      '--mark',
    ]);
    await eventually('both are moved', async () => {
      const names = readdirSync(path);
      return !names.includes('MARIA-1.csv') && !names.includes('MARIA-2.csv');
    });
    renameSync(join(path, 'cut.csv.part'), join(path, 'cut.csv'));
    await eventually('the third is moved', async () => readdirSync(moved).length === 4);
    // Another file of the name gets none of the metadata of the first.
    writeFileSync(join(path, 'MARIA-1.csv'), 'a\n3\n');
    writeFileSync(join(path, 'cut.csv'), 'a\n4\n');
    writeFileSync(join(path, 'cut.csv.meta.json'), '{"lap":4}');
    await eventually('the others are moved', async () => readdirSync(moved).length === 7);
    running.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.log()).not.toContain('Traceback');
    const seen = (await outputsOf(stage, graph)).map(({ outputIdentifier, metadata }) => [
      outputIdentifier.split('-').at(0),
      metadata,
    ]);
    expect(seen).toEqual([
      ['MARIA', { driver: 'MARIA', lap: '2' }],
      ['MARIA', { driver: 'MARIA', lap: 'first', tyre: { compound: 'süß\u007f' } }],
      ['cut.csv', null],
      ['MARIA', { driver: 'MARIA', lap: '1' }],
      ['cut.csv', { lap: 4 }],
    ]);
    const names = readdirSync(moved);
    expect(names.filter((name) => name.endsWith('.meta.json'))).toEqual([
      'MARIA-1.csv.meta.json',
      expect.stringMatching(/^cut\.csv-[0-9a-f]{16}\.meta\.json$/),
    ]);
    expect(JSON.parse(readFileSync(join(path, 'cut.csv.sent'), 'utf8'))).toMatchObject({
      identifier: expect.stringMatching(/^cut\.csv-/),
    });
  });

  test('ends the move of a file that was interrupted after its metadata', async () => {
    const graph = await stage.chainOf(1);
    const path = captures(join(folder, 'interrupted'), { 'a.csv': 'a\n1\n', 'a.csv.meta.json': '{"lap":1}' });
    const moved = join(path, 'sent');
    const args = ['--once', '--move-to', moved];
    // The file cannot be moved over a folder of its identifier: it stays in the journal, and in the folder.
    const name = `a.csv-${sha256('a\n1\n').slice(0, 16)}`;
    mkdirSync(join(moved, 'a.csv'), { recursive: true });
    mkdirSync(join(moved, name));
    await agent(path, graph, args).ended;
    expect(readdirSync(path)).toEqual(['.sdp-sent.jsonl', 'a.csv', 'sent']);
    rmSync(join(moved, name), { recursive: true });
    const ended = agent(path, graph, args);
    expect(await ended.ended, ended.log()).toBe(0);
    expect(readdirSync(path)).toEqual(['.sdp-sent.jsonl', 'sent']);
    expect(readdirSync(moved)).toEqual(['a.csv', name, `${name}.meta.json`]);
    expect(await outputsOf(stage, graph)).toMatchObject([{ metadata: { lap: 1 } }]);
  });

  test.skipIf(!hasOtherDisk)('moves files to another disk with their times', async () => {
    const graph = await stage.chainOf(1);
    const path = captures(join(folder, 'archived'), { 'a.csv': 'a\n1\n', 'a.csv.meta.json': '{"lap":1}' });
    const { mtimeMs } = statSync(join(path, 'a.csv'));
    const archive = archiveElsewhere();
    const running = agent(path, graph, ['--once', '--move-to', archive]);
    expect([await running.ended, running.log()]).toEqual([0, expect.stringMatching(/^a\.csv: output \d+$/m)]);
    expect([readdirSync(path), readdirSync(archive)]).toEqual([
      ['.sdp-sent.jsonl'],
      ['a.csv', 'a.csv.meta.json'],
    ]);
    expect(readFileSync(join(archive, 'a.csv'), 'utf8')).toBe('a\n1\n');
    expect(statSync(join(archive, 'a.csv')).mtimeMs).toBeCloseTo(mtimeMs, 0);
  });

  test('a file that cannot be moved holds up no new file', async () => {
    const graph = await stage.chainOf(1);
    const path = captures(join(folder, 'unmovable'), { 'a.csv': 'a\n1\n' });
    const moved = join(folder, 'no-folder');
    writeFileSync(moved, '');
    await agent(path, graph, ['--once', '--move-to', moved]).ended;
    captures(join(folder, 'newer'), { 'b.csv': 'a\n2\n' });
    renameSync(join(folder, 'newer', 'b.csv'), join(path, 'b.csv'));
    const running = agent(path, graph, ['--once', '--move-to', moved]);
    expect([await running.ended, running.log()]).toEqual([1, expect.stringContaining('a.csv: ')]);
    expect(await outputsOf(stage, graph)).toHaveLength(2);
  });

  test('is killed before and after each of its requests: each file is there once', async () => {
    const graph = await stage.chainOf(1);
    const files = {
      'a.csv': 'time\n1\n',
      'b.bin': randomBytes(18 * mebibyte),
      'c.csv': '',
      'd.bin': randomBytes(20 * mebibyte),
    };
    const path = captures(join(folder, 'killed'), files);
    const lives = await livesOf(api.url, 10, (url) => lifeOf(agent(path, graph, ['--once'], url)));
    expect(lives).toBeGreaterThan(4);
    const all = Object.values(files).map(sha256);
    expect((await outputsOf(stage, graph)).map((output) => output.sha256)).toEqual(all);
    // No second upload was begun for a file that had one.
    const [begun] = await stage.database.query<{ count: number }>(
      'select count(*)::int as count from resumable_upload where node_instance_id = $1',
      [graph.nodes.input],
    );
    expect(begun!.count).toBe(2);
    // A journal whose last line is half a one, and one that is lost: the platform knows the files.
    const journal = join(path, '.sdp-sent.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').slice(0, -20));
    expect(await agent(path, graph, ['--once']).ended).toBe(0);
    rmSync(journal);
    expect(await agent(path, graph, ['--once']).ended).toBe(0);
    expect(await outputsOf(stage, graph)).toHaveLength(4);
  });

  test('killed at a managed ingest it makes one session for each file', async () => {
    const { urlPath, secret, projectId } = await managedIngest(api.url, people.adminToken, stage.database);
    const files = {
      'MARIA-1.csv': 'time\n1\n',
      'OLEG-7.bin': randomBytes(18 * mebibyte),
      'MARIA-2.csv': 'time\n2\n',
    };
    const path = captures(join(folder, 'ingest'), files);
    const args = ['--ingest', urlPath, '--once', '--pattern', '(?P<driver>[A-Z]+)-'];
    const ingesting = (url: string, SDP_INGEST_SECRET: string) =>
      started(path, args, { SDP_URL: url, SDP_INGEST_SECRET });
    expect(await livesOf(api.url, 5, (url) => lifeOf(ingesting(url, secret)))).toBeGreaterThan(2);
    expect(await ingestedInto(stage.database, projectId)).toEqual(
      Object.entries(files).map(([name, bytes]) => ({
        sessions: 1,
        sha256: sha256(bytes),
        metadata: { driver: name.split('-')[0] },
      })),
    );
    // A wrong secret may be corrected while the agent waits: nothing is given up for it.
    writeFileSync(join(path, 'late.csv'), 'time\n3\n');
    const refused = ingesting(api.url, 'wrong');
    await eventually('it was refused', async () => refused.log().includes('late.csv: '));
    refused.kill('SIGTERM');
    await refused.ended;
    expect(await ingesting(api.url, secret).ended).toBe(0);
    expect(await ingestedInto(stage.database, projectId)).toHaveLength(4);
  });

  test('goes on when the platform is back, and keeps to its rate', async () => {
    const graph = await stage.chainOf(1);
    const bytes = randomBytes(18 * mebibyte);
    const path = captures(join(folder, 'slow'), { 'long.bin': bytes });
    let isAway = true;
    const url = await brokenLineTo(api.url, () => (isAway ? 'before' : undefined));
    const running = agent(path, graph, ['--once', '--limit-rate', '6M'], url);
    await eventually('it has tried', async () => running.log().includes('long.bin: '));
    isAway = false;
    const startedAtMs = performance.now();
    expect(await running.ended, running.log()).toBe(0);
    expect(performance.now() - startedAtMs).toBeGreaterThan(2_500);
    expect(await outputsOf(stage, graph)).toMatchObject([{ sha256: sha256(bytes) }]);
  });

  test('a refused file does not hold up the others, and what it cannot do it says at the start', async () => {
    const graph = await stage.chainOf(1);
    const path = captures(join(folder, 'refused'), {
      'a.csv': 'a\n1\n',
      'a.csv.meta.json': '[]',
      'b.csv': 'a\n2\n',
    });
    const running = agent(path, graph, ['--once']);
    expect(await running.ended).toBe(1);
    expect(running.log()).toContain('a.csv.meta.json holds no JSON object.');
    expect(await outputsOf(stage, graph)).toHaveLength(1);
    const lasting = agent(path, graph);
    await eventually('it says what follows', async () =>
      lasting
        .log()
        .includes('a.csv: a.csv.meta.json holds no JSON object. It is tried again in 10 minutes.\n'),
    );
    lasting.kill('SIGTERM');
    await lasting.ended;
    for (const [args, said] of [
      [[], 'one of the arguments --session --ingest is required'],
      [['--session', 'x', '--limit-rate', 'fast'], 'a number of bytes'],
      [['--session', 'x', '--pattern', '('], 'a regular expression'],
      [['--session', 'x', '--settle', '0'], 'a number of seconds'],
      [['--session', 'x'], 'SDP_TOKEN'],
    ] as const) {
      const ended = started(path, args, { SDP_URL: api.url });
      expect(await ended.ended).toBe(2);
      expect(ended.log()).toContain(said);
    }
  });

  test('an upload tells its progress, and another process goes on with it under its key', async () => {
    const graph = await stage.chainOf(1);
    const bytes = randomBytes(20 * mebibyte);
    writeFileSync(join(folder, 'long.bin'), bytes);
    writeFileSync(
      join(folder, 'progress.py'),
      `import os, sys
from pathlib import Path
from sdp.client import Platform

def progress(sent: int, total: int) -> None:
    if len(sys.argv) > 1 and sent > 12_000_000:
        os.kill(os.getpid(), 9)
    seen.append((sent, total))

seen = []
session = Platform(retry_seconds=5).session("${graph.sessionId}")
session.upload(Path("${join(folder, 'long.bin')}"), metadata={"lap": 7}, progress=progress, resume_key="long-1")
print("from", seen[0][0] > 8_000_000, "to", seen[-1], sorted(seen) == seen)
`,
    );
    const variables = { SDP_URL: api.url, SDP_TOKEN: people.offlineToken };
    const file = join(folder, 'progress.py');
    expect(await processes.startScript(file, variables, { program: python, args: ['dies'] }).ended).toBe(
      'SIGKILL',
    );
    const next = processes.startScript(file, variables, { program: python });
    expect(await next.ended, next.log()).toBe(0);
    expect(next.log()).toContain(`from True to (${bytes.length}, ${bytes.length}) True`);
    expect(await outputsOf(stage, graph)).toMatchObject([{ sha256: sha256(bytes), metadata: { lap: 7 } }]);
  });
});
