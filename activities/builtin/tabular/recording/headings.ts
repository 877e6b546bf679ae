/** Headings: their names, units, groups and the ids of channels. */
import { startOf } from '../../../../domain/text.ts';
import type { TabularConfiguration } from '../configuration.ts';
import { recordingLimits } from './recording.ts';

export interface Heading {
  name: string;
  unit: string | null;
}

/** Words in parentheses that are not units. */
const noUnits = new Set(
  'adj adjusted avg average calc corr est est. filt filtered front gross ideal index left main max maximum mean meas median min minimum net new no old ratio raw rear ref right set std sum target test total true x y z'.split(
    ' ',
  ),
);
const longUnits =
  /^(?:seconds?|minutes?|hours?|days?|met(?:er|re)s?|degrees?|percent|celsius|fahrenheit|kelvin|volts?|amps?|amperes?|watts?|newtons?|pascals?|joules?|hertz|radians?|lit(?:er|re)s?|grams?|miles?|feet|inch(?:es)?|counts?|milliseconds?|microseconds?|nanoseconds?)$/i;

/** Name and unit of a heading such as `speed [m/s]` or `speed (m/s)`. */
export function readHeading(heading: string): Heading {
  const text = heading.replace(/\p{C}+/gu, ' ').trim();
  const bracket = /^(.*\S)\s*\[\s*([^[\]]{0,24})\]$/su.exec(text);
  // `accel[0]` names a part, not a unit.
  if (bracket !== null && !/^\s*\d+\s*$/.test(bracket[2] as string)) {
    return { name: bracket[1] as string, unit: readUnit(bracket[2] as string) };
  }
  const parenthesis = /^(.*\S)\s*\(\s*([^()]{1,16}?)\s*\)$/su.exec(text);
  const inner = parenthesis?.[2] ?? '';
  if (parenthesis !== null && isUnit(inner)) return { name: parenthesis[1] as string, unit: readUnit(inner) };
  return { name: text, unit: null };
}

/** A unit as written in brackets or in a line of units; null for none (`-`, blank). */
export function readUnit(text: string): string | null {
  const unit = startOf(text.trim().replace(/^[[(]\s*(.*?)\s*[\])]$/, '$1'), 24);
  return unit === '' || /^[-–—]+$/.test(unit) ? null : unit;
}

function isUnit(text: string): boolean {
  if (noUnits.has(text.toLowerCase()) || /\s/.test(text) || /^\d+$/.test(text)) return false;
  return /^\p{L}{1,5}$/u.test(text) || /[^\p{L}]/u.test(text) || longUnits.test(text);
}

/** Ids and names of columns: unique, short, without commas and control characters. */
export function nameColumns(headings: readonly Heading[]): { id: string; name: string }[] {
  const taken = new Set<string>();
  return headings.map((heading, index) => {
    const name = cut(heading.name === '' ? `column_${index + 1}` : heading.name);
    const base = name.replaceAll(',', '_');
    let id = base;
    for (let copy = 2; taken.has(id); copy++)
      id = `${startOf(base, recordingLimits.nameCharacters - 8)}#${copy}`;
    taken.add(id);
    return { id, name };
  });
}

function cut(text: string): string {
  return text.length <= recordingLimits.nameCharacters
    ? text
    : text.slice(0, recordingLimits.nameCharacters).replace(/[\ud800-\udbff]$/, '');
}

export interface Group {
  id: string;
  name: string;
}

const fallbackGroup = 'default';

/** Puts names into groups, as the configuration schema describes it; returns each name's group and the groups used. */
export function groupNames(
  names: readonly string[],
  configuration: TabularConfiguration,
): { groupOf: string[]; groups: Group[] } {
  const configured = (configuration.groups ?? []).map((group) => ({
    id: group.id,
    name: group.name ?? group.id,
    listed: listMatcher(group.channels ?? []),
    prefixes: [...new Set([group.id, group.name ?? group.id])].map((prefix) => prefix.toLowerCase()),
  }));
  const usesPrefixes = configured.length === 0 && (configuration.defaultGroupId ?? null) === null;
  const rest = configuration.defaultGroupId ?? fallbackGroup;
  const groupOf = names.map((name) => {
    const lower = name.toLowerCase();
    const listed = configured.find((group) => group.listed(lower));
    if (listed !== undefined) return listed.id;
    let best: { id: string; length: number } | null = null;
    for (const { id, prefixes } of configured) {
      for (const prefix of prefixes) {
        const isPrefix = lower.startsWith(prefix) && /^[./:_]./.test(lower.slice(prefix.length));
        if (isPrefix && prefix.length > (best?.length ?? 0)) best = { id, length: prefix.length };
      }
    }
    if (best !== null) return best.id;
    const prefix = usesPrefixes ? /^([^./:\s][^./:]*)[./:]\S/.exec(name)?.[1]?.trim() : undefined;
    return prefix !== undefined && !/^\d+$/.test(prefix) ? prefix : rest;
  });
  const known = new Map(configured.map((group) => [group.id, group.name]));
  const groups = [...new Set(groupOf)].map((id) => ({ id, name: known.get(id) ?? id }));
  return { groupOf, groups };
}

/** Matches lower-case names against patterns with `*`, in linear time of the name for each pattern. */
function listMatcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>();
  const parts: string[][] = [];
  for (const pattern of patterns) {
    const lower = pattern.toLowerCase();
    if (lower.includes('*')) parts.push(lower.split('*'));
    else exact.add(lower);
  }
  return (name) => exact.has(name) || parts.some((pieces) => matchesPieces(name, pieces));
}

function matchesPieces(name: string, pieces: readonly string[]): boolean {
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
