import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const bootstrap = fileURLToPath(new URL('../../local/bootstrap.mjs', import.meta.url));
const fileLock = new URL('../../local/prepare/file-lock.mjs', import.meta.url).href;

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-local-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function script(text: string): string {
  const file = join(newFolder(), 'script.ts');
  writeFileSync(file, text);
  return file;
}

function run(args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  return { child, ended };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.stdout?.once('data', (chunk) => resolve(String(chunk).trim())));
}

test('an unknown command is answered with the list of commands', async () => {
  const { code, stderr } = await run([bootstrap, 'begin']).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('Unknown command "begin".');
  expect(stderr).toContain('start ');
});

test('a start takes no arguments: help is printed, and anything else refused', async () => {
  const help = await run([bootstrap, 'start', '--help']).ended;
  expect(help).toMatchObject({ code: 0, stderr: expect.stringContaining('Usage: ') });
  const port = await run([bootstrap, 'start', '--port=9000']).ended;
  expect(port.code).toBe(1);
  expect(port.stderr).toBe(
    '"start" takes no arguments, such as "--port=9000". Its settings are variables, such as PORT=9000 npm start.\n',
  );
});

test('a script runs under Node 24 with its arguments, and its exit code comes back', async () => {
  const file = script('console.log(process.versions.node, process.argv.slice(2).join()); process.exit(7);');
  const { code, stdout } = await run([bootstrap, file, 'one', 'two']).ended;
  expect(stdout).toMatch(/^(2[4-9]|[3-9]\d)\..* one,two\n$/);
  expect(code).toBe(7);
});

test('the Node of the packages runs the scripts although npm has not linked it, as npm 10 leaves it', async () => {
  const folder = newFolder();
  const place = (...parts: string[]) => join(folder, ...parts);
  for (const part of ['bootstrap.mjs', 'prepare'])
    cpSync(join(dirname(bootstrap), part), place('local', part), { recursive: true });
  const name = `node-${process.platform}-${process.arch}`;
  mkdirSync(place('node_modules', name, 'bin'), { recursive: true });
  symlinkSync(process.execPath, place('node_modules', name, 'bin', 'node'));
  writeFileSync(place('package-lock.json'), '{}');
  writeFileSync(place('node_modules', '.installed'), createHash('sha256').update('{}').digest('hex'));
  writeFileSync(place('script.ts'), 'console.log(process.argv0);');
  const { code, stdout, stderr } = await run([place('local', 'bootstrap.mjs'), 'script.ts']).ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: `${place('node_modules', '.bin', 'node')}\n`,
    stderr: '',
  });
});

test('a signal reaches the script, which decides how to end', async () => {
  const file = script(
    "process.on('SIGTERM', () => { console.log('asked'); process.exit(3); }); setInterval(() => 0, 1000); console.log('up');",
  );
  const { child, ended } = run([bootstrap, file]);
  expect(await firstLine(child)).toBe('up');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 3, stdout: 'up\nasked\n' });
});

test('a script notices that the bootstrap was killed outright', async () => {
  const noticed = join(newFolder(), 'noticed');
  const file = script(`
    import { writeFileSync } from 'node:fs';
    process.on('disconnect', () => { writeFileSync(${JSON.stringify(noticed)}, 'yes'); process.exit(0); });
    console.log('up');
  `);
  const { child, ended } = run([bootstrap, file]);
  await firstLine(child);
  child.kill('SIGKILL');
  await ended;
  await expect.poll(() => readQuietly(noticed)).toBe('yes');
});

test('what is prepared under a lock is prepared by one process at a time, also after one was killed', async () => {
  const folder = newFolder();
  const lock = join(folder, 'lock');
  const log = join(folder, 'log');
  // A process that ended without releasing its lock.
  writeFileSync(lock, JSON.stringify({ pid: process.pid, startTime: '1' }));
  const work = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { withFileLock } from ${JSON.stringify(fileLock)};
    await withFileLock(${JSON.stringify(lock)}, async () => {
      appendFileSync(${JSON.stringify(log)}, 'in ');
      await setTimeout(100);
      appendFileSync(${JSON.stringify(log)}, 'out ');
    });
  `;
  const runs = [1, 2, 3].map(() => run(['--input-type=module', '-e', work]).ended);
  expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(readFileSync(log, 'utf8')).toBe('in out in out in out ');
});

function readQuietly(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
