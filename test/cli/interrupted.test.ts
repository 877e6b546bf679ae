/** What a command leaves behind that Ctrl-C ends. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { commandLine } from './support.ts';

const { folder, startSdp } = commandLine();
const asked: string[] = [];
const savedRun = '0198f2b5-11d0-7b6e-8a43-6f0de41c2b98';
const caseOfRun = {
  runId: savedRun,
  attempt: 1,
  attempts: [],
  inputs: [{ outputId: 5, sizeBytes: 9, sha256: null }],
};
/** It begins answers with bytes and ends none, as a line that hangs. */
const server = createServer(({ url = '' }, response) => {
  asked.push(url);
  if (url.includes(savedRun) && !url.includes('/data')) response.end(JSON.stringify(caseOfRun));
  else if (url.includes('/data'))
    response.writeHead(200, { 'content-length': 1_000_000 }).write('first bytes');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const emptyFolder = (name: string) => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};

test('a renewal of the sign-in leaves no lock for the next command', async () => {
  const own = emptyFolder('sdp');
  const past = '2026-01-01T00:00:00.000Z';
  const tokens = { accessToken: 'a', expiresAt: past, refreshToken: 'r', refreshExpiresAt: past };
  const platforms = { [address]: { username: 'admin', ...tokens } };
  writeFileSync(join(own, 'credentials.json'), JSON.stringify({ current: address, platforms }));
  const running = startSdp(['projects', 'list'], {});
  await eventually('it renews', () => asked.includes('/api/authorization/refresh'));
  expect(existsSync(join(own, 'credentials.json.lock'))).toBe(true);
  running.kill('SIGINT');
  expect((await running.ended).code).toBeNull();
  expect(existsSync(join(own, 'credentials.json.lock'))).toBe(false);
});

const signedIn = { SDP_URL: address, SDP_TOKEN: 't' };

test('a download leaves no part of a file', async () => {
  const target = emptyFolder('downloads');
  const running = startSdp(['outputs', 'download', '5', '--out', join(target, 'lap.csv')], signedIn);
  await eventually('a part is there', () => readdirSync(target).length > 0);
  running.kill('SIGINT');
  expect((await running.ended).code).toBeNull();
  expect(readdirSync(target)).toEqual([]);
});

test('a replay leaves no copies of recordings', async () => {
  const temporary = emptyFolder('temporary');
  const run = '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97';
  const running = startSdp(['replay', run, '--', 'true'], { ...signedIn, TMPDIR: temporary });
  await eventually('it asks for the case', () => asked.some((url) => url.includes(`${run}/replay`)));
  expect(readdirSync(temporary)).toHaveLength(1);
  running.kill('SIGINT');
  expect((await running.ended).code).toBeNull();
  expect(readdirSync(temporary)).toEqual([]);
});

test('a replay leaves no half case where it saves one, so that it can be repeated', async () => {
  const target = emptyFolder('case');
  const running = startSdp(['replay', savedRun, '--save', target], signedIn);
  const inputs = () => asked.some((url) => url.includes(`${savedRun}/replay/inputs/5/data`));
  await eventually('it saves an input', inputs);
  expect(readdirSync(target)).toEqual(['inputs']);
  running.kill('SIGINT');
  expect((await running.ended).code).toBeNull();
  expect(readdirSync(target)).toEqual([]);
});

test('an upload says how many files are stored, and that a repeat sends the rest', async () => {
  const files = ['one.csv', 'two.csv'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, 'a\n1\n');
  const running = startSdp(['upload', '7', ...files], signedIn);
  await eventually('it has begun', () => asked.some((url) => url.includes('/node-instance/7/')));
  running.kill('SIGINT');
  const { code, err } = await running.ended;
  const said = 'Interrupted: 0 of 2 files are stored. Repeat the command to send the rest.\n';
  expect([code, err]).toEqual([null, said]);
});

test('a command ends, and leaves no part of a file, when the process that started it is killed outright', async () => {
  const target = emptyFolder('killed');
  const args = ['cli/sdp.mjs', 'outputs', 'download', '5', '--out', join(target, 'lap.csv')];
  const started = spawn(process.execPath, args, { env: { ...process.env, ...signedIn } });
  onTestFinished(() => void started.kill('SIGTERM'));
  await eventually('a part is there', () => readdirSync(target).length > 0);
  started.kill('SIGKILL');
  // The command holds the other ends.
  await new Promise((resolve) => started.once('close', resolve));
  expect(readdirSync(target)).toEqual([]);
});
