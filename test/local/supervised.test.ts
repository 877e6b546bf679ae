/** How children that have ended, or live without serving, are started again. */
import { spawn } from 'node:child_process';
import {
  existsSync,
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
import { DatabaseSync } from 'node:sqlite';
import { Connection } from '@temporalio/client';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../local/ports.ts';
import { findPrograms } from '../../local/programs.ts';
import { ChildStartError, Supervised } from '../../local/supervised.ts';
import { isTemporalReady, startTemporal, temporalUiUrl } from '../../local/temporal.ts';
import { eventually } from '../support/eventually.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-supervised-'));
  folders.push(folder);
  for (const name of ['logs', 'run']) mkdirSync(join(folder, name));
  return folder;
}

/** Makes its file `ready` once it runs; ends at once where there is a file `broken`, and writes much where one `talks`. */
const script = `
  const { existsSync, writeFileSync } = require('node:fs');
  if (existsSync('broken')) {
    console.error('the file broken is there');
    process.exit(7);
  }
  writeFileSync('ready', '');
  if (existsSync('talks')) console.log('x'.repeat(21 * 1024 ** 2));
  setInterval(() => existsSync('talks') || console.log('the last line'), 200);`;

async function startChild(folder: string) {
  const waits: number[] = [];
  const readyFile = join(folder, 'ready');
  const child = new Supervised({
    name: 'Child',
    command: process.execPath,
    args: ['-e', script],
    env: { PATH: process.env.PATH ?? '' },
    cwd: folder,
    programName: 'node',
    mark: folder,
    logFile: join(folder, 'logs', 'child.log'),
    pidFile: join(folder, 'run', 'child.pid'),
    stopSignal: 'SIGKILL',
    stopSeconds: 1,
    readySeconds: 20,
    readyFile,
    isReady: () => Promise.resolve(existsSync(readyFile)),
    log: (line) => waits.push(Number(/restarting in ([\d.]+) s/.exec(line)?.[1])),
  });
  onTestFinished(() => child.stop());
  await child.start();
  return { child, waits };
}

test('a child that was ready is restarted within a second after every kill', async () => {
  const { child, waits } = await startChild(newFolder());
  for (let kills = 1; kills <= 6; kills++) {
    const { pid } = child;
    child.kill('SIGKILL');
    await eventually('it ended', () => waits.length === kills);
    await child.untilReady();
    expect(child.pid).not.toBe(pid);
  }
  expect(waits).toEqual([0.2, 0.4, 0.8, 1, 1, 1]);
});

test('a child that ends before it is ready is restarted with growing delays', async () => {
  const folder = newFolder();
  const { child, waits } = await startChild(folder);
  writeFileSync(join(folder, 'broken'), '');
  child.kill('SIGKILL');
  await eventually('five ends', () => waits.length === 5);
  expect(waits).toEqual([0.2, 0.4, 0.8, 1.6, 3.2]);
});

test('the error of a failed start shows what this start wrote, and nothing of earlier ones', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'logs', 'child.log'), 'a line of an earlier start\n');
  writeFileSync(join(folder, 'broken'), '');
  const failed = await startChild(folder).catch((error: ChildStartError) => error);
  expect(failed).toBeInstanceOf(ChildStartError);
  expect((failed as ChildStartError).message).toMatch(/child\.log:\nthe file broken is there$/);
  expect((failed as ChildStartError).logTail).toBe('the file broken is there');
});

test('the log of a child that runs for long stays small, and the lines before are kept beside it', async () => {
  const folder = newFolder();
  const log = join(folder, 'logs', 'child.log');
  writeFileSync(join(folder, 'talks'), '');
  await startChild(folder);
  await eventually('the log was begun anew', () => existsSync(`${log}.1`) && statSync(log).size < 1024 ** 2);
  expect(statSync(`${log}.1`).size).toBeGreaterThan(20 * 1024 ** 2);
  rmSync(join(folder, 'talks'));
  await eventually('it goes on in the same file', () => /the last line\n$/.test(readFileSync(log, 'utf8')));
});

test('a child that cannot even be started is tried again until it can', async () => {
  const folder = newFolder();
  const { child, waits } = await startChild(folder);
  // No file can be made there, as on a full disk.
  renameSync(join(folder, 'logs'), join(folder, 'logs.away'));
  writeFileSync(join(folder, 'logs'), '');
  child.kill('SIGKILL');
  await eventually('three tries', () => waits.length >= 3);
  rmSync(join(folder, 'logs'));
  renameSync(join(folder, 'logs.away'), join(folder, 'logs'));
  await child.untilReady();
});

test('a start whose data folder was removed says so and ends', async () => {
  const folder = newFolder();
  const script = join(folder, 'start.ts');
  const local = join(import.meta.dirname, '../../local');
  writeFileSync(script, lostFolderScript(local, folder));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(output).toBe(`${join(folder, 'data', 'run')} was removed; nothing can go on without it.\n`);
  expect(code).toBe(1);
});

const lostFolderScript = (local: string, folder: string) => `
  import { mkdirSync, rmSync } from 'node:fs';
  import { Supervised } from '${local}/supervised.ts';
  import { fatalSentences } from '${local}/plain-error.ts';
  import { endOnUnexpected } from '${local}/../telemetry/unexpected.ts';
  const data = '${folder}/data';
  for (const name of ['logs', 'run']) mkdirSync(data + '/' + name, { recursive: true });
  const child = new Supervised({
    name: 'Child', command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1000)'], env: {},
    programName: 'node', mark: data, logFile: data + '/logs/child.log', pidFile: data + '/run/child.pid',
    stopSignal: 'SIGKILL', stopSeconds: 1, readySeconds: 20, isReady: async () => true, log: () => undefined,
  });
  endOnUnexpected(fatalSentences, () => child.stop());
  await child.start();
  rmSync(data, { recursive: true });
  child.kill('SIGKILL');
  setInterval(() => undefined, 1000);`;

test('a Temporal that answers and whose store refuses is killed and serves again', async () => {
  const dataDir = newFolder();
  const lines: string[] = [];
  const log = (line: string) => {
    // The store is whole again before the server is started anew.
    if (line.includes('accepts connections but does not respond')) alterStore(dataDir, MEND);
    lines.push(line);
  };
  const { temporal, port } = await startedTemporal(dataDir, log);
  const describe = await namespaceReader(port);
  await describe();
  const { pid } = temporal;
  alterStore(dataDir, BREAK);
  await expect(describe()).rejects.toThrow();
  await eventually('it is killed', () => lines.some((line) => line.includes('Temporal ended')));
  await eventually('it serves again', describe);
  expect(temporal.pid).not.toBe(pid);
});

test('the check of Temporal leaves no connection open in it', async () => {
  const { temporal, uiUrl } = await startedTemporal(newFolder(), () => undefined);
  const descriptors = () => readdirSync(`/proc/${temporal.pid}/fd`).length;
  const checked = async (times: number) => {
    for (let count = 0; count < times; count += 1)
      // A check that a busy machine did not answer in time is made again.
      await eventually('Temporal is ready', () => isTemporalReady(uiUrl).catch(() => false));
  };
  await checked(10);
  const before = descriptors();
  await checked(50);
  expect(descriptors() - before).toBeLessThan(25);
});

async function startedTemporal(dataDir: string, log: (line: string) => void) {
  const [port, uiPort] = [await freePort(), await freePort()];
  const { temporal: program } = await findPrograms({ postgres: true, temporal: false, objectStore: true });
  const options = { dataDir, program: program!, port, uiPort, log };
  const temporal = await startTemporal(options);
  onTestFinished(() => temporal.stop());
  return { temporal, port, uiUrl: temporalUiUrl(options) };
}

const BREAK = 'ALTER TABLE namespaces RENAME TO namespaces_away';
const MEND = 'ALTER TABLE namespaces_away RENAME TO namespaces';

function alterStore(dataDir: string, statement: string): void {
  // The server's own tables quote texts as names.
  const options = { timeout: 10_000, enableDoubleQuotedStringLiterals: true };
  const store = new DatabaseSync(join(dataDir, 'temporal.db'), options);
  store.exec(statement);
  store.close();
}

/** A call that the server answers from its store. */
async function namespaceReader(port: number): Promise<() => Promise<unknown>> {
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  onTestFinished(() => connection.close());
  const read = () => connection.workflowService.describeNamespace({ namespace: 'default' });
  return () => connection.withDeadline(Date.now() + 2_000, read);
}
