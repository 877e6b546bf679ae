/** The Python package: its types, its own tests, its guide on a real platform. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Block, checkout, readPage } from '../docs/pages.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { runnerStage } from '../support/runner.ts';
import { ship } from '../support/templates.ts';
import { packageFolder, pythonEnvironment } from './environment.ts';

const { python = 'python3', missing } = pythonEnvironment();
const why = missing === '' ? '' : ` (${missing})`;
const folder = mkdtempSync(join(tmpdir(), 'sdp-python-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module of Python and returns what it printed; fails with it. */
function succeeds(args: readonly string[], cwd: string, variables: Readonly<Record<string, string>> = {}) {
  const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const done = spawnSync(python, args, { cwd, env: environment, encoding: 'utf8' });
  expect(done.status, `${done.stdout}\n${done.stderr}`).toBe(0);
  return done.stdout;
}

describe.skipIf(missing !== '')(`the package${why}`, () => {
  test('has types that hold in strict mode, and so have the examples', () => {
    const cacheFolder = ['--cache-dir', join(dirname(dirname(python)), 'mypy')];
    succeeds(['-m', 'mypy', ...cacheFolder], packageFolder);
    const examples = ['csv_to_json_lines', 'resample_csv', 'incremental_aggregation'].map(
      (name) => `../examples/python/${name}.py`,
    );
    succeeds(['-m', 'mypy', ...cacheFolder, ...examples], packageFolder);
  });

  test('passes its own tests as it is installed', () => {
    const printed = succeeds(['-m', 'pytest', '-p', 'no:cacheprovider', 'tests'], packageFolder);
    expect(printed).toMatch(/\d+ passed/);
    expect(printed).not.toMatch(/failed|skipped/);
  });

  test('has the commands that it promises, and needs nothing else', () => {
    const command = join(dirname(python), 'sdp-runner');
    expect(spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/^sdp-runner \d/);
    const needed = succeeds(
      ['-c', 'from importlib.metadata import requires; print(requires("simulation-data-platform"))'],
      folder,
    );
    expect(needed.match(/'[^']+'/g)?.filter((one) => !one.includes('extra =='))).toEqual([]);
    const path = succeeds(
      ['-c', 'import sdp, pathlib; print(pathlib.Path(sdp.__file__).with_name("py.typed").exists())'],
      folder,
    );
    expect(path.trim()).toBe('True');
  });
});

test.skipIf(missing !== '')(`a runner of \`sdp runner init --python\` passes its tests${why}`, () => {
  const made = join(folder, 'made');
  execFileSync(process.execPath, [join(checkout, 'cli/sdp.ts'), 'runner', 'init', made, '--python']);
  expect(succeeds(['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], made)).toContain('2 passed');
  succeeds(['-m', 'mypy', '--strict', 'runner.py', 'test_runner.py'], made);
});

const stage = missing === '' ? await runnerStage() : undefined;

describe.skipIf(stage === undefined)(`the guide${why}`, () => {
  const page = readPage('docs/python.md');
  const named = (info: string) => page.blocks.filter((block) => block.info === info);
  const processes = testProcesses(stage?.platform.environment ?? {});
  const runners = testProcesses({});
  const { url = '' } = stage?.api ?? {};
  const token = stage?.people.Developer.token ?? '';

  async function publish(path: string, file: string): Promise<void> {
    const json = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const answer = await ask(url, 'POST', path, { token, json });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  }

  beforeAll(async () => {
    await ship(stage!.database);
    for (const { info, language, text } of page.blocks)
      if (/\.\w+$/.test(info) && language !== 'sh') writeFileSync(join(folder, info), `${text}\n`);
    await processes.startWorker('all');
  });

  test('tests its runner as it says', () => {
    expect(succeeds(['-m', 'pytest', '-q', 'test_lap_times.py'], folder)).toContain('1 passed');
  });

  test('has blocks that Python can read', () => {
    const others = page.blocks.filter(({ language, info }) => language === 'python' && info === '');
    for (const { text, line } of others) {
      writeFileSync(join(folder, 'block.py'), text);
      const done = spawnSync(python, ['-m', 'py_compile', 'block.py'], { cwd: folder, encoding: 'utf8' });
      expect(done.status, `line ${line}: ${done.stderr}`).toBe(0);
    }
    expect(others.length).toBeGreaterThan(0);
  });

  test('runs as a notebook on a platform, again and again, and prints what it says', async () => {
    await publish('/api/v2/admin/runner-manifests', 'manifest.json');
    await publish('/api/v2/admin/session-templates', 'session-template.json');
    const variables = { SDP_URL: url, SDP_RUNNER_TOKEN: token, PYTHONDONTWRITEBYTECODE: '1' };
    const runner = runners.startScript(join(dirname(python), 'sdp-runner'), variables, {
      program: python,
      args: [join(folder, 'lap_times.py')],
    });
    await eventually('the runner claims tasks', () => runner.log().includes('claims tasks'));
    writeFileSync(join(folder, 'notebook.py'), cellsOf(named('cell')));
    for (const time of ['first', 'second']) {
      const script = join(folder, 'notebook.py');
      const child = runners.startScript(script, { SDP_URL: url, SDP_TOKEN: token }, { program: python });
      const code = await child.ended;
      expect(code, `the ${time} time: ${child.log()}\n${runner.log()}`).toBe(0);
      for (const [at, block] of page.blocks.entries())
        if (block.language === 'text' && page.blocks[at - 1]?.info === 'cell')
          expect(printedBy(child.log(), page.blocks[at - 1]!)).toEqual(linesOf(block.text));
    }
    runner.kill('SIGTERM');
    expect(await runner.ended).toBe(0);
  });
});

describe.skipIf(stage === undefined)(`a saved case${why}`, () => {
  test('of a failed run fails in the same way without the platform', async () => {
    const { url } = stage!.api;
    const { token } = stage!.people.Developer;
    const graph = await stage!.chainOf(1, { leaseSeconds: 10, maxAttempts: 1 });
    const module = join(folder, 'parser.py');
    writeFileSync(
      module,
      `import sdp

@sdp.runner(templates=[${JSON.stringify(graph.template)}])
def parse(task):
    for item in task.inputs("latest"):
        task.write_json([int(line) for line in item.lines()])
`,
    );
    const processes = testProcesses({});
    const variables = { SDP_URL: url, SDP_RUNNER_TOKEN: token };
    const command = join(dirname(python), 'sdp-runner');
    const runner = processes.startScript(command, variables, { program: python, args: [module] });
    const uploaded = await stage!.upload(graph, 'input', '1\nx\n', { 'content-type': 'text/plain' });
    expect(uploaded.status).toBe(201);
    const save = `
import sys, time
from sdp.client import NodeFailed, Platform
session = Platform().session("${graph.sessionId}")
try:
    session.wait(nodes=["n1"], timeout_seconds=60)
except NodeFailed as failed:
    run = failed.node.runs()[0]
    print(failed.node.status_details)
    print([line.message.splitlines()[-1] for line in run.logs(level="error") if line.source == "runner"])
    run.save_case("failed")
`;
    writeFileSync(join(folder, 'save.py'), `import os\nos.chdir(${JSON.stringify(folder)})\n${save}`);
    // Not synchronous: the API is in this process.
    const saving = processes.startScript(
      join(folder, 'save.py'),
      { SDP_URL: url, SDP_TOKEN: token },
      { program: python },
    );
    expect(await saving.ended, `${saving.log()}\n${runner.log()}`).toBe(0);
    const printed = saving.log();
    const error = "ValueError: invalid literal for int() with base 10: 'x'";
    expect(printed).toContain(`error: ${error}`);
    expect(printed).toContain(JSON.stringify([error]));
    const replay = spawnSync(python, ['-m', 'sdp.replay', 'failed', module, '--out', 'out'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(replay.status).toBe(1);
    expect(replay.stderr).toContain(`The task ended: error: ${error}. Outputs: 0.`);
    runner.kill('SIGTERM');
    expect(await runner.ended).toBe(0);
  });
});

const mark = ({ line }: Block) => `::: line ${line} :::`;
const linesOf = (text: string) => text.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));

function cellsOf(cells: readonly Block[]): string {
  const before = `import os\nos.chdir(${JSON.stringify(folder)})`;
  return [before, ...cells.map((cell) => `print(${JSON.stringify(mark(cell))})\n${cell.text}`)].join('\n');
}

/** The last lines that a cell printed, as many as its block shows: a frame has a heading. */
function printedBy(log: string, cell: Block): string[] {
  const start = log.indexOf(mark(cell)) + mark(cell).length + 1;
  const end = log.indexOf('::: line ', start);
  const lines = linesOf(log.slice(start, end < 0 ? undefined : end).trimEnd());
  return lines.filter((line) => line !== '' && line !== 'session top');
}
