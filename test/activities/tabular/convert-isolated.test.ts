import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Converter } from '../../../activities/builtin/tabular/convert/convert-isolated.ts';
import type { IsolatedInput } from '../../../activities/builtin/tabular/convert/convert-messages.ts';
import { NoTabularData, TabularError } from '../../../activities/builtin/tabular/errors.ts';
import { hasProcess } from '../../support/processes.ts';
import { stretched } from '../../support/stretched.ts';
import { declaringEntries, nestedColumns } from './hostile-parquet.ts';
import { longParquet, parquetType } from './long-parquet.ts';
import { TabularBench } from './support.ts';

async function convertTabularIsolated(input: IsolatedInput) {
  const converter = new Converter();
  try {
    return await converter.convert(input);
  } finally {
    await converter.close();
  }
}

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

function inputOf(text: string, more: Partial<IsolatedInput> = {}): IsolatedInput {
  const inputPath = join(bench.folder, 'upload');
  writeFileSync(inputPath, text);
  return {
    inputPath,
    contentType: 'text/csv',
    outputIdentifier: 'u',
    source: { outputId: 1, outputIdentifier: 'u' },
    configuration: {},
    outputPath: bench.outputPath,
    workDir: bench.workDir,
    memoryLimitBytes: 256 * 1024 * 1024,
    maxSeconds: 60,
    ...more,
  };
}

const long = `time,a,b\n${Array.from({ length: 400_000 }, (_, row) => `${row},${row / 7},${row / 3}`).join('\n')}\n`;

let parquet: string | undefined;
async function longInput(): Promise<IsolatedInput> {
  if (parquet === undefined) {
    parquet = join(bench.folder, 'long.parquet');
    writeFileSync(parquet, await longParquet());
  }
  return inputOf('', { inputPath: parquet, contentType: parquetType });
}

describe('a conversion in a process of its own', () => {
  test('returns the result of the conversion', async () => {
    const conversion = await convertTabularIsolated(inputOf('time,v\n0,1\n1,2\n'));
    expect(conversion).toEqual(await bench.convert('time,v\n0,1\n1,2\n', {}, inputOf('time,v\n0,1\n1,2\n')));
    expect(await bench.rows(conversion)).toEqual([
      { t: 0, v: 1 },
      { t: 1000, v: 2 },
    ]);
    expect(readdirSync(bench.workDir)).toEqual([]);
  });

  test('is shared by the files of a run, also after a refused one, and replaced when it has died', async () => {
    const converter = new Converter();
    const convert = (text: string) => converter.convert(inputOf(text));
    await convert('time,v\n0,1\n1,2\n');
    const [first] = childPids();
    await expect(convert('time,v\n0,1\n1,2,3\n')).rejects.toBeInstanceOf(TabularError);
    expect((await convert('time,v\n0,1\n1,2\n2,3\n')).rowCount).toBe(3);
    expect(childPids()).toEqual([first]);
    process.kill(first!, 'SIGKILL');
    await expect.poll(() => hasProcess(first!)).toBe(false);
    expect((await convert('time,v\n0,1\n1,2\n')).rowCount).toBe(2);
    await converter.close();
    expect(childPids()).toEqual([]);
  });

  test('keeps what Node compiles of it for the next one', async () => {
    const folder = join(bench.folder, 'compiled');
    vi.stubEnv('NODE_COMPILE_CACHE', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const files = () => readdirSync(folder, { recursive: true }).length;
    await convertTabularIsolated(inputOf('time,v\n0,1\n1,2\n'));
    const kept = files();
    expect(kept).toBeGreaterThan(100);
    await convertTabularIsolated(inputOf('time,v\n0,1\n1,2\n'));
    expect(files()).toBe(kept);
  });

  test('refuses with the same errors', async () => {
    const refused = await convertTabularIsolated(inputOf('time,v\n0,1\n1,2,3\n')).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(TabularError);
    expect(refused).not.toBeInstanceOf(NoTabularData);
    expect(refused).toMatchObject({
      line: 3,
      column: 3,
      message: 'Line 3, column 3: The line has 3 fields, not 2.',
    });
    await expect(convertTabularIsolated(inputOf(''))).rejects.toBeInstanceOf(NoTabularData);
  });

  test('ends with its signal and leaves neither process nor files', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const running = convertTabularIsolated(inputOf(long, { signal: controller.signal }));
    await expect.poll(() => readdirSync(bench.workDir).length).toBe(1);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(bench.workDir)).toEqual([]);
    expect(childPids()).toEqual([]);
  });

  test('ends with a signal that comes before its process runs', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const running = convertTabularIsolated(inputOf('time,v\n0,1\n', { signal: controller.signal }));
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(bench.workDir)).toEqual([]);
    expect(childPids()).toEqual([]);
  });

  test('that exceeds its time limit is aborted in the middle of its query, and the file is refused', async () => {
    const input = { ...(await longInput()), maxSeconds: 0.5, overtimeSeconds: 600 };
    const startedMs = performance.now();
    await expect(convertTabularIsolated(input)).rejects.toThrow(
      new TabularError(
        'The conversion of the file exceeds the time limit (0.5 seconds); upload it in smaller files.',
      ),
    );
    // Twice as long and more without an interruption.
    expect(performance.now() - startedMs).toBeLessThan(stretched(15_000));
    expect(readdirSync(bench.workDir)).toEqual([]);
    expect(childPids()).toEqual([]);
  });

  test('and is killed if it does not abort', async () => {
    const running = convertTabularIsolated({ ...(await longInput()), maxSeconds: 0.5, overtimeSeconds: 1 });
    const ended = expect(running).rejects.toThrow(/exceeds the time limit/);
    await expect.poll(() => childPids().length).toBe(1);
    process.kill(childPids()[0] as number, 'SIGSTOP');
    await ended;
    expect(childPids()).toEqual([]);
  });

  test('is done again by another process when its own dies', async () => {
    const running = convertTabularIsolated(inputOf(long));
    await expect.poll(() => childPids().length).toBe(1);
    process.kill(childPids()[0] as number, 'SIGSEGV');
    expect((await running).rowCount).toBe(400_000);
    expect(readdirSync(bench.workDir)).toEqual([]);
  });

  test('refuses a file that its process does not survive, and goes on with the next', async () => {
    const converter = new Converter();
    const input = inputOf('', { outputPath: join(bench.folder, 'never') });
    writeFileSync(input.inputPath, nestedColumns(200_000));
    await expect(converter.convert(input)).rejects.toThrow(
      new TabularError('The file ends the program that reads it (SIGSEGV).'),
    );
    expect(readdirSync(bench.workDir)).toEqual([]);
    expect(existsSync(join(bench.folder, 'never'))).toBe(false);
    expect((await converter.convert(inputOf('time,v\n0,1\n1,2\n'))).rowCount).toBe(2);
    await converter.close();
  });

  test('refuses a few bytes that declare gigabytes when they show', async () => {
    const input = inputOf('');
    writeFileSync(input.inputPath, declaringEntries(2 ** 28));
    await expect(convertTabularIsolated(input)).rejects.toThrow(/^The file needs more memory than/);
    expect(childPids()).toEqual([]);
  });
});

function childPids(): number[] {
  const output = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  });
  return output
    .split('\n')
    .filter((line) => line.includes('convert-child.ts'))
    .map((line) => Number(line.trim().split(' ')[0]));
}
