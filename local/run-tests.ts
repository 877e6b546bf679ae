import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from './parent.ts';
import { checkout } from './settings.ts';

/** The fields of vitest's json report that are used here. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

const modules = join(checkout, 'node_modules');
const running = new Set<ChildProcess>();
let isEnding = false;

/**
 * `npm test [arguments for vitest]`: types, console and lint at once, then the suite. All run even when others fail;
 * the last line is `N passed, N failed`, in which each failed check before the suite counts as one failure.
 */
async function main(args: string[]): Promise<number> {
  const checks = await Promise.all([
    check('Types', [join(modules, 'typescript/bin/tsc'), '--noEmit', '-p', checkout]),
    check('Types of the console', [
      join(modules, 'typescript/bin/tsc'),
      '--noEmit',
      '-p',
      join(checkout, 'web'),
    ]),
    check('Console', [join(checkout, 'local/bootstrap.mjs'), 'console']),
    check('Lint and format', [join(modules, '@biomejs/biome/bin/biome'), 'check', checkout]),
    check('Unused files and exports', [join(modules, 'knip/bin/knip.js'), '--no-progress']),
  ]);
  const suite = await runSuite(args);
  const failed = checks.filter((isGood) => !isGood).length + suite.failed;
  console.log(`${suite.passed} passed, ${failed} failed`);
  return failed === 0 && suite.isGood && !isEnding ? 0 : 1;
}

/** Several at once, about one per processor; the output of each is printed together. */
async function check(name: string, args: string[]): Promise<boolean> {
  if (isEnding) return false;
  const printed: Buffer[] = [];
  const isGood =
    (await run(args, (child) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => printed.push(chunk));
    })) === 0;
  process.stdout.write(Buffer.concat(printed));
  console.log(isGood ? `${name}: good` : `${name}: FAILED (see above)`);
  return isGood;
}

async function runSuite(args: string[]): Promise<{ passed: number; failed: number; isGood: boolean }> {
  if (isEnding) return { passed: 0, failed: 0, isGood: false };
  const folder = mkdtempSync(join(tmpdir(), 'sdp-report-'));
  const file = join(folder, 'report.json');
  try {
    const vitest = join(modules, 'vitest/vitest.mjs');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const code = await run([vitest, 'run', ...reporters, ...args]);
    const report = readReport(file);
    if (report === undefined) return { passed: 0, failed: 1, isGood: false };
    // A file that cannot be loaded, or whose cleanup fails, has no failed test.
    const brokenFiles = report.testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' &&
        !assertionResults.some((test) => (test as { status: string }).status === 'failed'),
    ).length;
    const counted = report.numFailedTests + brokenFiles;
    // Unhandled errors and a failed teardown show only in the exit code.
    const failed = code !== 0 && counted === 0 ? 1 : counted;
    return { passed: report.numPassedTests, failed, isGood: code === 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

/** @param listen reads the program's output, which otherwise goes to ours */
function run(args: string[], listen?: (child: ChildProcess) => void): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const stdio = listen === undefined ? 'inherit' : 'pipe';
    const child = spawn(process.execPath, args, { cwd: checkout, stdio });
    running.add(child);
    listen?.(child);
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
}

// vitest stops its servers on SIGINT; on other signals it would leave them.
onEnd(() => {
  isEnding = true;
  for (const child of running) child.kill('SIGINT');
});
process.exit(await main(process.argv.slice(2)));
