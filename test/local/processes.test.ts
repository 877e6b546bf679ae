import { type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { endOrphan, identityOf, isAlive, writeChildNote } from '../../local/process-identity.ts';
import { readStartSettings } from '../../local/settings.ts';

const startScript = fileURLToPath(new URL('../../local/start.ts', import.meta.url));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-local-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A child that a note describes; `mark` is in its command line. */
function sleeper(mark: string): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', mark], {
    stdio: 'ignore',
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child.pid ?? 0;
}

const note = { name: 'Sleeper', programName: 'node', stopSignal: 'SIGTERM', stopSeconds: 5 } as const;

test('a child that outlived its start is recognised and ended', async () => {
  const folder = newFolder();
  const pid = sleeper(folder);
  const identity = identityOf(pid);
  writeChildNote(join(folder, 'child.pid'), pid, { ...note, mark: folder });
  expect(await endOrphan(join(folder, 'child.pid'))).toBe('Sleeper');
  expect(isAlive(identity)).toBe(false);
});

test('a process that only has the pid of an earlier child is not ended', async () => {
  const folder = newFolder();
  const pid = sleeper(folder);
  const file = join(folder, 'child.pid');
  const stranger = { ...identityOf(pid), startTime: '1', ...note, mark: folder };
  writeFileSync(file, JSON.stringify(stranger));
  expect(await endOrphan(file)).toBeUndefined();
  writeChildNote(file, pid, { ...note, mark: '/some/other/folder' });
  expect(await endOrphan(file)).toBeUndefined();
  writeFileSync(file, 'not JSON');
  expect(await endOrphan(file)).toBeUndefined();
  expect(isAlive(identityOf(pid))).toBe(true);
});

test('wrong settings are reported together, one line for each', () => {
  const environment = {
    PORT: 'eighty',
    ADMIN_PASSWORD: 'short',
    SDK_RUNNERS_DIR: '/nowhere/at/all',
    TEMPORAL_ADDRESS: 'http://somewhere',
    DATABASE_URL: 'mysql://somewhere',
    S3_ENDPOINT: 'http://somewhere:9000',
    S3_ACCESS_KEY_ID: 'id',
  };
  expect(() => readStartSettings(environment)).toThrow(
    [
      'PORT: must be a port number',
      'ADMIN_PASSWORD: must have at least 12 characters',
      'SDK_RUNNERS_DIR: must be an existing folder',
      'DATABASE_URL: must be an address like postgresql://user:password@host:5432/database',
      'TEMPORAL_ADDRESS: must be host:port',
      'S3_SECRET_ACCESS_KEY: is required with S3_ACCESS_KEY_ID',
    ].join('\n'),
  );
});

test('empty settings count as absent', () => {
  const settings = readStartSettings({ PORT: '', DATABASE_URL: '', S3_ENDPOINT: '' });
  expect(settings).toMatchObject({ port: 8080, publicUrl: 'http://localhost:8080', external: {} });
});

/** Runs `npm start`'s script to its end. */
async function refusedStart(options: SpawnOptions): Promise<{ code: unknown; complaint: string }> {
  const child = spawn(process.execPath, [startScript], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr!.on('data', (chunk) => {
    complaint += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, complaint };
}

test('a taken PORT ends the start with one sentence and starts nothing', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '0.0.0.0', resolve));
  onTestFinished(() => {
    blocker.close();
  });
  const { port } = blocker.address() as { port: number };
  const dataDir = join(newFolder(), 'data');
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir };
  const { code, complaint } = await refusedStart({ env });
  expect(complaint).toContain(`PORT: port ${port} is in use by another program.`);
  expect(code).toBe(1);
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
});

const firstFreePort = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const isGuarded = existsSync(firstFreePort) && Number(readFileSync(firstFreePort, 'utf8')) > 80;

test.runIf(isGuarded)('a PORT that only root may use is not reported as taken', async () => {
  const folder = newFolder();
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const env = { ...process.env, PORT: '80', DATA_DIR: join(folder, 'data') };
  const { code, complaint } = await refusedStart({ env, ...user });
  expect(complaint).toBe('PORT: this user may not listen on port 80. Choose one above 1023.\n');
  expect(code).toBe(1);
});
