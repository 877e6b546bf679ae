/** Files and folders stay small: docs/architecture/018-walks.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { checkout } from '../local/settings.ts';

const maxLines = 300;
const maxLinesOfFunction = 50;
const maxFiles = 25;
const generated = ['client/types.ts'];

const files = execFileSync('git', ['ls-files'], { cwd: checkout, encoding: 'utf8' }).trim().split('\n');

test(`no source file has more than ${maxLines} lines`, () => {
  const sources = files.filter((file) => /\.(tsx?|mjs|css|py)$/.test(file) && !generated.includes(file));
  const lengths = sources.map((file) => ({
    file,
    lines: readFileSync(join(checkout, file), 'utf8').split('\n').length - 1,
  }));
  expect(lengths.length).toBeGreaterThan(1_000);
  expect(lengths.filter(({ lines }) => lines > maxLines)).toEqual([]);
});

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The functions of a source file that are too long, as `file:line`. */
function longFunctions(file: string): string[] {
  const text = readFileSync(join(checkout, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  expect(errors, file).toEqual([]);
  const found: string[] = [];
  const check = ({ start, end }: Span) => {
    if (text.slice(start, end).split('\n').length > maxLinesOfFunction)
      found.push(`${file}:${text.slice(0, start).split('\n').length}`);
  };
  const functions = { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  new Visitor(functions).visit(program);
  return found;
}

// Tests are grouped in functions as long as a subject.
test(`no function outside of tests has more than ${maxLinesOfFunction} lines`, () => {
  const sources = files.filter((file) => /\.(tsx?|mjs)$/.test(file) && !/^test\//.test(file));
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.flatMap(longFunctions)).toEqual([]);
});

test(`no folder has more than ${maxFiles} files side by side`, () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > maxFiles)).toEqual([]);
});
