/** docs/reference/limits.md: every number of domain/limits.ts, under the headings that it has there. */
import { readFileSync } from 'node:fs';
import { limits } from '../../../domain/limits.ts';
import { type LimitName, meanings } from './limit-meanings.ts';
import { code, generated, table } from './table.ts';

const units = ['Characters', 'Milliseconds', 'Seconds', 'Hours', 'Days', 'Months', 'Levels'] as const;

export function limitsPage(): string {
  const source = readFileSync(new URL('../../../domain/limits.ts', import.meta.url), 'utf8');
  const sections: { readonly title: string; readonly names: LimitName[] }[] = [];
  for (const line of source.split('\n')) {
    const title = /^ {2}\/\/ (.+?)(?: \((?:contract|decisions).*\))?$/.exec(line)?.[1];
    if (title !== undefined) sections.push({ title, names: [] });
    const name = /^ {2}(\w+): /.exec(line)?.[1];
    if (name !== undefined && Object.hasOwn(limits, name)) sections.at(-1)?.names.push(name as LimitName);
  }
  const documented = sections.flatMap(({ names }) => names);
  const undocumented = Object.keys(limits).filter((name) => !documented.includes(name as LimitName));
  if (undocumented.length > 0)
    throw new Error(`domain/limits.ts: no heading above ${undocumented.join(', ')}.`);
  const tables = sections.map(({ title, names }) => {
    const rows = names.map((name) => [meanings[name], printedValue(name), code(name)]);
    return `## ${title}\n\n${table(['What', 'Limit', 'Name in the code'], rows)}\n`;
  });
  return `${generated}
# Limits

Every limit of the interface. KB, MB and GB are powers of 1,024 bytes. Some limits
can be changed by a variable: see [settings](configuration.md).

${tables.join('\n')}`;
}

/** Also of names such as `timeWindowSecondsMax`. */
const unitOf = (name: string) => units.find((unit) => name.replace(/(Default|Min|Max)$/, '').endsWith(unit));

function printedValue(name: LimitName): string {
  const value: number = limits[name];
  const unit = unitOf(name);
  if (/Bytes/.test(name)) {
    const perSecond = /PerSecond/.test(name) ? ' a second' : '';
    return `${bytes(value)}${perSecond}`;
  }
  if (unit === 'Seconds') return duration(value);
  if (unit === 'Hours' && value > 48 && value % 24 === 0)
    return `${counted(value, 'hours')} (${value / 24} days)`;
  if (/Year|Id$|Int32/.test(name)) return String(value);
  return unit === undefined ? value.toLocaleString('en') : counted(value, unit.toLowerCase());
}

/** In the largest unit of which it has a whole number, above one minute. */
function duration(seconds: number): string {
  if (seconds % 3_600 === 0) return counted(seconds / 3_600, 'hours');
  return seconds > 60 && seconds % 60 === 0 ? counted(seconds / 60, 'minutes') : counted(seconds, 'seconds');
}

const counted = (value: number, unit: string) =>
  `${value.toLocaleString('en')} ${value === 1 ? unit.slice(0, -1) : unit}`;

function bytes(value: number): string {
  const [size, unit] = [
    [1024 ** 3, 'GB'],
    [1024 ** 2, 'MB'],
    [1024, 'KB'],
  ].find(([least]) => value >= Number(least) && value % Number(least) === 0) ?? [1, 'bytes'];
  return `${(value / Number(size)).toLocaleString('en')} ${unit}`;
}
