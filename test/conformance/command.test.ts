/** `npm run conformance` as its users see it. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, type TestContext, test } from 'vitest';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import { eventually } from '../support/eventually.ts';
import { hasProcess } from '../support/processes.ts';
import { folder, nodeRunner } from './kit.ts';

const main = fileURLToPath(new URL('../../sdk/conformance/main.ts', import.meta.url));

/** Tests run at the same time: what a test leaves is removed by its own context. */
function start(context: TestContext, args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, INIT_CWD: folder, ...environment },
  });
  context.onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  );
  return { child, ended };
}

const run = (context: TestContext, ...args: readonly string[]) => start(context, args).ended;
const reference = nodeRunner('reference-runner.ts').command;

test.concurrent('a runner without faults ends it with 0, a line for each scenario and a summary', async (context) => {
  const { code, stdout } = await run(
    context,
    '--runner',
    reference,
    '--only',
    'plain',
    '--only',
    'input-gzip',
  );
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^pass {2}plain /),
    expect.stringMatching(/^pass {2}input-gzip /),
    '',
    '2 passed, 0 with warnings, 0 failed, 0 not exercised',
  ]);
  expect(code).toBe(0);
});

test.concurrent('a fault ends it with 1 and names the broken rule', async (context) => {
  const broken = nodeRunner('broken/does-not-repeat-complete.ts').command;
  const { code, stdout } = await run(
    context,
    '--runner',
    broken,
    '--only',
    'complete-answer-lost',
    '--patience',
    '4',
  );
  expect(stdout).toContain('fail  complete-answer-lost');
  expect(stdout).toContain('without repeating it');
  expect(stdout).toContain('rule end-not-repeated (PUT /tasks/{taskId}/complete): An end without an answer');
  expect(stdout).toContain('PUT /tasks/');
  expect(code).toBe(1);
});

test.concurrent('a warning ends it with 0, and with 1 when warnings count', async (context) => {
  const broken = nodeRunner('broken/polls-busily.ts').command;
  const { code, stdout } = await run(context, '--runner', broken, '--only', 'no-work', '--json', '--strict');
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({
    conformant: true,
    scenarios: [{ name: 'no-work', verdict: 'warn', findings: [{ rule: 'busy-polling', level: 'warn' }] }],
  });
  expect(code).toBe(1);
});

test.concurrent('the failing input of a runner can be configured', async (context) => {
  const failing = ['--failing-configuration', '{"fail":true}', '--failing-input', 'kit.ts'];
  const { code, stdout } = await run(
    context,
    '--runner',
    reference,
    '--only',
    'fail-answer-lost',
    '--json',
    ...failing,
  );
  const [{ verdict, calls }] = JSON.parse(stdout).scenarios;
  expect(calls.filter((call: string) => call.includes('/fail '))).toHaveLength(2);
  expect([verdict, code]).toEqual(['pass', 0]);
});

test.concurrent('a runner that fails plain tasks is reported, and the other scenarios are played too', async (context) => {
  const failing = ['--configuration', '{"fail":true}', '--only', 'plain', '--only', 'no-work'];
  const { code, stdout } = await run(context, '--runner', reference, ...failing);
  expect(stdout).toContain('The runner reported error: Error: as the configuration wants it');
  expect(stdout).toMatch(/^fail {2}no-work /m);
  expect(stdout).toContain('0 passed, 0 with warnings, 2 failed');
  expect(code).toBe(1);
});

test.concurrent('the results are written as JUnit XML', async (context) => {
  const place = mkdtempSync(join(tmpdir(), 'sdp-conformance-'));
  context.onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const file = join(place, 'results.xml');
  const only = ['--only', 'plain', '--only', 'stop-while-waiting', '--only', 'incremental-cap'];
  await run(
    context,
    '--runner',
    nodeRunner('broken/leaves-out-instance.ts').command,
    ...only,
    '--junit',
    file,
  );
  const xml = readFileSync(file, 'utf8');
  expect(xml).toContain('<testsuite name="conformance" tests="3" failures="1" errors="0" skipped="1" ');
  expect(xml).toMatch(/<testcase [^>]*name="plain"[^>]*><failure message="[^"]+got 400: The header/);
  expect(xml).toContain('<skipped message="for incremental node templates; say so with --incremental"/>');
  expect(xml).toMatch(
    /name="stop-while-waiting"[^>]*><system-out>SIGTERM while there is no work\n[^<]*note: /,
  );
});

test.concurrent('its list names every scenario', async (context) => {
  const { code, stdout } = await run(context, '--list');
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  ).toEqual(scenarios.map(({ name }) => name));
  expect(code).toBe(0);
});

/** The wrong use, the arguments, and the text of the hint. */
const unusable: readonly (readonly [what: string, args: readonly string[], hint: string])[] = [
  ['no runner', ['--only', 'plain'], 'The runner is missing'],
  ['an unknown scenario', ['--runner', 'x', '--only', 'none'], "There is no scenario 'none'"],
  [
    'a configuration that is no object',
    ['--runner', 'x', '--configuration', '[]'],
    'It must be a JSON object.',
  ],
  ['a lease out of range', ['--runner', 'x', '--lease', '2'], 'It must be a number from 3 to 60.'],
  ['an input that is not there', ['--runner', 'x', '--input', 'no-such-file.csv'], 'no-such-file.csv'],
  ['a command that does not start', ['--runner', 'exec no-such-program'], 'The runner never called.'],
  [
    'another template',
    ['--runner', reference, '--template', 'other', '--patience', '4'],
    '--template names the one',
  ],
];
test.concurrent.for(unusable)('%s ends it with 2 and a hint', async ([, args, hint], context) => {
  const { code, stderr } = await run(context, ...args);
  expect(stderr).toContain(hint);
  expect(code).toBe(2);
});

test.concurrent('input, configuration and Content-Type reach the runner, relative to the current folder', async (context) => {
  const seen = mkdtempSync(join(tmpdir(), 'sdp-conformance-'));
  context.onTestFinished(() => rmSync(seen, { recursive: true, force: true }));
  const { code } = await start(
    context,
    ['--runner', `exec "${process.execPath}" shows-task.ts`, '--only', 'plain', '--input', 'kit.ts'].concat([
      ...['--content-type', 'text/x-own', '--configuration', '{"column":"speed"}'],
    ]),
    { SEEN_FILE: join(seen, 'seen') },
  ).ended;
  const { configuration, input, bytes } = JSON.parse(readFileSync(join(seen, 'seen'), 'utf8'));
  expect(configuration).toEqual({ column: 'speed' });
  expect(input).toMatchObject({ contentType: 'text/x-own', outputIdentifier: 'kit.ts' });
  expect(bytes).toBe(readFileSync(join(folder, 'kit.ts'), 'utf8'));
  expect(code).toBe(0);
});

test.concurrent('a kit that is stopped leaves no runner behind', async (context) => {
  const place = mkdtempSync(join(tmpdir(), 'sdp-conformance-'));
  context.onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const file = join(place, 'pid');
  const { child, ended } = start(context, ['--runner', `echo $$ > "${file}"; sleep 600`]);
  const pid = Number(await eventually('the runner is up', () => readFileSync(file, 'utf8').trim()));
  child.kill('SIGTERM');
  expect((await ended).code).toBe(2);
  await eventually('the runner is gone', () => !hasProcess(pid));
});

test.concurrent('bundled into one file it runs without a checkout', async (context) => {
  const place = mkdtempSync(join(tmpdir(), 'sdp-conformance-'));
  context.onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const bundle = fileURLToPath(new URL('../../sdk/conformance/bundle.ts', import.meta.url));
  const file = join(place, 'conformance.mjs');
  await promisify(execFile)(process.execPath, [bundle, file]);
  const args = [file, '--runner', reference, '--only', 'plain', '--only', 'input-gzip'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: place });
  expect(stdout).toContain('2 passed, 0 with warnings, 0 failed');
});
