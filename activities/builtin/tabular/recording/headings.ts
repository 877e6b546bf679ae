/** What the headings of a recording become: names and ids of channels, and groups. */
import { startOf } from '../../../../domain/text.ts';
import type { TabularConfiguration } from '../configuration.ts';
import { recordingLimits } from '../description.ts';
import type { Heading } from '../text/heading.ts';

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
