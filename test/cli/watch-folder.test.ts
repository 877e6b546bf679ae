/** The agent of a capture machine: each file once, whatever happens to agent, line and platform. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { brokenLineTo } from './broken-line.ts';
import {
  archiveElsewhere,
  captures,
  hasOtherDisk,
  type Life,
  livesOf,
  mebibyte,
  outputsOf,
  sha256,
} from './capture-agent.ts';
import { ingestedInto, managedIngest } from './managed-ingest.ts';
import { commandLine, type Running } from './support.ts';

const { folder, runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;

const agent = (path: string, graph: StageGraph, args: readonly string[] = [], url = api.url) =>
  startSdp(['watch-folder', path, '--session', graph.sessionId, '--settle', '1', ...args], {
    SDP_URL: url,
    SDP_TOKEN: people.offlineToken,
  });

const lifeOf = (running: Running): Life => ({
  kill: (signal) => running.kill(signal),
  isDone: running.ended.then(({ code }) => code === 0),
});

test('sends what is complete, oldest first, with metadata, and moves and marks it', async () => {
  const graph = await stage.chainOf(1);
  const path = captures(join(folder, 'ordered'), {
    'MARIA-2.csv': 'a\n2\n',
    'MARIA-1.csv': 'a\n1\n',
    'MARIA-1.csv.meta.json': '{"lap":"first","tyre":{"compound":"soft"}}',
    'cut.csv.part': 'not yet',
    '.hidden': 'x',
  });
  const moved = join(path, 'sent');
  const args = ['--pattern', '(?<driver>[A-Z]+)-(?<lap>\\d+)', '--move-to', moved];
  const running = agent(path, graph, args);
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
  running.kill('SIGTERM');
  await running.ended;
  expect(
    (await outputsOf(stage, graph)).map(({ outputIdentifier, metadata }) => [
      outputIdentifier.split('-').at(0),
      metadata,
    ]),
  ).toEqual([
    ['MARIA', { driver: 'MARIA', lap: '2' }],
    ['MARIA', { driver: 'MARIA', lap: 'first', tyre: { compound: 'soft' } }],
    ['cut.csv', null],
    ['MARIA', { driver: 'MARIA', lap: '1' }],
    ['cut.csv', { lap: 4 }],
  ]);
  const names = readdirSync(moved);
  expect(names.filter((name) => name.endsWith('.meta.json'))).toEqual([
    'MARIA-1.csv.meta.json',
    expect.stringMatching(/^cut\.csv-[0-9a-f]{16}\.meta\.json$/),
  ]);
  const again = captures(join(folder, 'marked'), { 'one.csv': 'a\n1\n' });
  expect((await agent(again, graph, ['--mark', '--once']).ended).code).toBe(0);
  expect(JSON.parse(readFileSync(join(again, 'one.csv.sent'), 'utf8'))).toMatchObject({
    identifier: expect.stringMatching(/^one\.csv-/),
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
  expect((await agent(path, graph, args).ended).code).toBe(0);
  expect(readdirSync(path)).toEqual(['.sdp-sent.jsonl', 'sent']);
  expect(readdirSync(moved)).toEqual(['a.csv', name, `${name}.meta.json`]);
  expect(await outputsOf(stage, graph)).toMatchObject([{ metadata: { lap: 1 } }]);
});

test.skipIf(!hasOtherDisk)('moves files to another disk with their times', async () => {
  const graph = await stage.chainOf(1);
  const path = captures(join(folder, 'archived'), { 'a.csv': 'a\n1\n', 'a.csv.meta.json': '{"lap":1}' });
  const { mtimeMs } = statSync(join(path, 'a.csv'));
  const archive = archiveElsewhere();
  const { code, err } = await agent(path, graph, ['--once', '--move-to', archive]).ended;
  expect([code, err]).toEqual([0, expect.stringMatching(/^a\.csv: output \d+$/m)]);
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
  const { code, err } = await agent(path, graph, ['--once', '--move-to', moved]).ended;
  expect([code, err]).toEqual([1, expect.stringContaining('a.csv: ')]);
  expect(await outputsOf(stage, graph)).toHaveLength(2);
});

test('is killed before and after each of its requests: each file is there once', async () => {
  const graph = await stage.chainOf(1);
  const files = {
    'a.csv': 'time\n1\n',
    'b.bin': randomBytes(18 * mebibyte),
    'c.csv': 'time\n2\n',
    'd.bin': randomBytes(20 * mebibyte),
  };
  const path = captures(join(folder, 'killed'), files);
  const lives = await livesOf(api.url, 10, (url) => lifeOf(agent(path, graph, ['--once'], url)));
  expect(lives).toBeGreaterThan(4);
  const seen = (await outputsOf(stage, graph)).map((output) => output.sha256);
  expect(seen).toEqual(Object.values(files).map(sha256));
  // A journal whose last line is half a one, and one that is lost: the platform knows the files.
  const journal = join(path, '.sdp-sent.jsonl');
  const text = readFileSync(journal, 'utf8');
  writeFileSync(journal, text.slice(0, -20));
  expect((await agent(path, graph, ['--once']).ended).code).toBe(0);
  rmSync(journal);
  expect((await agent(path, graph, ['--once']).ended).code).toBe(0);
  expect(await outputsOf(stage, graph)).toHaveLength(4);
});

test('sends to a managed ingest with its secret, and killed at its requests makes one session for each file', async () => {
  const { urlPath, secret, projectId } = await managedIngest(api.url, people.adminToken, stage.database);
  const files = {
    'MARIA-1.csv': 'time\n1\n',
    'OLEG-7.bin': randomBytes(18 * mebibyte),
    'MARIA-2.csv': 'time\n2\n',
  };
  const path = captures(join(folder, 'ingest'), files);
  const args = ['--ingest', urlPath, '--settle', '1', '--once', '--mark', '--pattern', '(?<driver>[A-Z]+)-'];
  const ingesting = (url: string, SDP_INGEST_SECRET: string) =>
    startSdp(['watch-folder', path, ...args], { SDP_URL: url, SDP_INGEST_SECRET });
  const lives = await livesOf(api.url, 5, (url) => lifeOf(ingesting(url, secret)));
  expect(lives).toBeGreaterThan(2);
  expect(await ingestedInto(stage.database, projectId)).toEqual([
    { sessions: 1, sha256: sha256(files['MARIA-1.csv']), metadata: { driver: 'MARIA' } },
    { sessions: 1, sha256: sha256(files['OLEG-7.bin']), metadata: { driver: 'OLEG' } },
    { sessions: 1, sha256: sha256(files['MARIA-2.csv']), metadata: { driver: 'MARIA' } },
  ]);
  expect(readdirSync(path).filter((name) => name.endsWith('.sent'))).toHaveLength(3);
  // A wrong secret may be corrected while the agent waits: nothing is given up for it.
  writeFileSync(join(path, 'late.csv'), 'time\n3\n');
  const refused = ingesting(api.url, 'wrong');
  await eventually('it was refused', async () => refused.printed.err.includes('late.csv: '));
  refused.kill('SIGTERM');
  await refused.ended;
  expect((await ingesting(api.url, secret).ended).code).toBe(0);
  expect(await ingestedInto(stage.database, projectId)).toHaveLength(4);
});

test('goes on when the platform is back, and keeps to its rate', async () => {
  const graph = await stage.chainOf(1);
  const bytes = randomBytes(18 * mebibyte);
  const path = captures(join(folder, 'slow'), { 'long.bin': bytes });
  let isAway = true;
  const url = await brokenLineTo(api.url, (asked) =>
    isAway && !asked.includes('/sessions/') ? 'before' : undefined,
  );
  const running = agent(path, graph, ['--once', '--limit-rate', '6M'], url);
  await eventually('it has tried', async () => /does not answer|broke/.test(running.printed.err));
  isAway = false;
  const startedAtMs = performance.now();
  expect((await running.ended).code).toBe(0);
  expect(performance.now() - startedAtMs).toBeGreaterThan(2_500);
  expect(await outputsOf(stage, graph)).toMatchObject([{ sha256: sha256(bytes) }]);
});

test('a refused file does not hold up the others, and needs either a session or an ingest', async () => {
  const graph = await stage.chainOf(1);
  const path = captures(join(folder, 'refused'), {
    'a.csv': 'a\n1\n',
    'a.csv.meta.json': '[]',
    'b.csv': 'a\n2\n',
  });
  const ended = await agent(path, graph, ['--once']).ended;
  expect([ended.code, ended.err]).toEqual([
    1,
    expect.stringContaining('a.csv.meta.json holds no JSON object.'),
  ]);
  expect(await outputsOf(stage, graph)).toHaveLength(1);
  const lasting = agent(path, graph);
  await eventually('it says what follows', async () =>
    lasting.printed.err.includes(
      'a.csv: a.csv.meta.json holds no JSON object. It is tried again in 10 minutes.\n',
    ),
  );
  lasting.kill('SIGTERM');
  await lasting.ended;
  const none = await runSdp(['watch-folder', path], { SDP_URL: api.url, SDP_TOKEN: people.adminToken });
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('Name either --session or --ingest.')]);
  const missing = await agent(join(path, 'missing'), graph, ['--once']).ended;
  expect([missing.code, missing.err]).toEqual([1, `Folder not found: ${join(path, 'missing')}.\n`]);
});
