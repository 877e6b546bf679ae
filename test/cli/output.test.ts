/** Tables for people, without a platform. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { printError } from '../../cli/errors.ts';
import { bytes, pagedTable, singleLine, table, time } from '../../cli/output.ts';
import { lineOf } from '../../cli/progress.ts';
import { ApiError } from '../../client/errors.ts';

const columns = { NAME: ({ name }: { name: string }) => name, STATE: () => 'done' };

test('a table of 200,000 rows is printed', () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => ({ name: String(at) }));
  expect(table(rows, columns).split('\n')).toHaveLength(200_001);
});

test('a long cell moves its own row alone', () => {
  const long = 'x'.repeat(255);
  expect(table([{ name: 'A lap' }, { name: long }], columns).split('\n')).toEqual([
    'NAME   STATE',
    'A lap  done',
    `${long}  done`,
  ]);
});

test('columns are as wide as their cells', () => {
  const name = 'x'.repeat(80);
  expect(table([{ name }, { name: '' }], columns).split('\n')).toEqual([
    `NAME${' '.repeat(76)}  STATE`,
    `${name}  done`,
    `-${' '.repeat(79)}  done`,
  ]);
});

test('pages of a table stand below one line of headings, each as wide as those before', () => {
  const rowsOf = pagedTable(columns);
  expect(rowsOf([{ name: 'A long lap' }])).toBe('NAME        STATE\nA long lap  done');
  expect(rowsOf([{ name: 'A lap' }])).toBe('A lap       done');
  expect(rowsOf([{ name: 'The longest lap' }])).toBe('The longest lap  done');
});

test('sizes, times and yes or no are short', () => {
  const sizes = [0, 1023, 1024, 1536, 1024 ** 2 - 1, 5 * 1024 ** 4, 2_000 * 1024 ** 4];
  expect(sizes.map(bytes)).toEqual(['0 B', '1023 B', '1.0 KB', '1.5 KB', '1.0 MB', '5.0 TB', '2000.0 TB']);
  expect(time('2026-03-01T10:00:05.123Z')).toBe('2026-03-01 10:00:05Z');
  expect([time(null), time(undefined), time('')]).toEqual([null, null, null]);
  expect(table([true, false, null], { IS: (one) => one })).toBe('IS\nyes\nno\n-');
});

test('text is one line, and nothing in it moves or turns what follows', () => {
  expect(singleLine('a\r\n\u001b[31mb\u2028c\u202egnp\u2066d')).toBe('a [31mb c gnp d');
  expect(singleLine('Übung 🚗 मेरा')).toBe('Übung 🚗 मेरा');
});

test('an error is shown as text is, whatever the platform quotes in it', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  const issues = [{ path: '$.a\u001b[2K', message: 'b\nc' }];
  const fields = { status: 400, message: 'a\n\u001b[31mb', requestId: null, issues };
  printError(new ApiError(fields), false);
  expect(printed.mock.calls).toEqual([['a  [31mb (400)'], ['  $.a [2K: b c']]);
});

test('a command whose output cannot be written says so and fails', () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const args = ['cli/sdp.ts', 'completion', 'bash'];
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'] });
  expect([status, `${stderr}`]).toEqual([1, expect.stringContaining('The output cannot be written: ENOSPC')]);
});

test('a bar shows its bytes in a narrow terminal too', () => {
  const bar = { doneBytes: 3 * 1024 ** 2, totalBytes: 12 * 1024 ** 2, note: '' };
  const line = lineOf('a-long-recording.csv', bar, 59);
  expect(line.trim()).toBe('...rding.csv [######..................] 3.0 MB of 12.0 MB');
  expect(lineOf('a\u001b[2K\nb', bar, 59)).toMatch(/^a \[2K b +\[#/);
});
