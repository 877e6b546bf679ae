/** Prometheus text format, as far as tests need to read it, and the metrics that expressions of Prometheus name. */
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { TestProcess } from '../support/processes.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  /** Names by which an expression may ask: of samples, and of metrics that are declared and have none yet. */
  readonly names: ReadonlySet<string>;
  readonly samples: readonly Sample[];
  /** The value of the one sample that has these labels; undefined without one. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const sampleForm = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const labelForm = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Throws for a line that is not of the format. */
export function readExposition(text: string): Exposition {
  const names = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const [, declared, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (declared !== undefined) {
      if (type !== 'histogram') names.add(declared);
      else for (const suffix of ['_bucket', '_sum', '_count']) names.add(declared + suffix);
    }
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value] = sampleForm.exec(line) ?? [];
    if (name === undefined) throw new Error(`no line of the format: ${line}`);
    names.add(name);
    const pairs = [...labels.matchAll(labelForm)].map(([, key, text]) => [key, text]);
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return {
    names,
    samples,
    value: (name, labels = {}) =>
      samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )?.value,
  };
}

const keywords = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
]);

/** The metrics that an expression names: every word that is not a function, keyword, label or number. */
export function metricsIn(expression: string): readonly string[] {
  const bare = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/\{[^{}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/g, ' ');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*/g)]
    .filter(({ 0: word, index }) => {
      const isFunction = /^\s*\(/.test(bare.slice(index + word.length));
      const isNumber = /[\d.]/.test(bare[index - 1] ?? '');
      return !isFunction && !isNumber && !keywords.has(word);
    })
    .map(([word]) => word);
}

/** What a process serves at its metrics port. */
export async function scrapeOf(running: TestProcess): Promise<Exposition> {
  const port = await eventually(
    'its metrics are served',
    () => /"metricsPort":(\d+)/.exec(running.log())?.[1],
  );
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return readExposition(await response.text());
}
