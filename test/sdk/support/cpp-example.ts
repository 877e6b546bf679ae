/** The C++ example, built with CMake. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';

const source = fileURLToPath(new URL('../../../sdk/examples/cpp', import.meta.url));
const run = promisify(execFile);

/** Builds it for the tests of one file. Call it at the top of the file: what it leaves is removed after the last test. */
export async function buildCpp(): Promise<{ readonly program: string; readonly words: string }> {
  const build = mkdtempSync(join(tmpdir(), 'sdp-cpp-'));
  afterAll(() => rmSync(build, { recursive: true, force: true }));
  await run('cmake', ['-S', source, '-B', build]);
  const { stdout, stderr } = await run('cmake', ['--build', build]);
  return { program: join(build, 'speed-to-distance'), words: stdout + stderr };
}
