/** Which values of a filter mean a person: at the places of people, a whole address is the person. */
import { isEmail } from '../text.ts';
import { participantsKey, peopleKeys } from './participant.ts';
import type { FilterLeaf, FilterNode } from './session-filter.ts';

/** All but those that order and `exists`. What is shown as an address is stored as an identifier, of which it is no part. */
const personOperators: readonly string[] = ['eq', 'ne', 'in', 'contains', 'startsWith', 'endsWith'];

/** Whether an address as a value of this leaf means the person. */
export function isPersonPlace(leaf: FilterLeaf): boolean {
  if (!personOperators.includes(leaf.op) || leaf.kind === 'annotation') return false;
  return leaf.kind === 'property' ? leaf.property === 'email' : peopleKeys.includes(leaf.keys[0] ?? '');
}

/** Every address in a filter that means a person, as written. */
export function addressesIn(node: FilterNode): Set<string> {
  const found = new Set<string>();
  collectAddresses(node, found);
  return found;
}

function collectAddresses(node: FilterNode, found: Set<string>): void {
  if ('nodes' in node) {
    for (const child of node.nodes) collectAddresses(child, found);
    return;
  }
  if (!isPersonPlace(node)) return;
  for (const value of valuesOf(node)) if (isAddress(value)) found.add(value);
}

function valuesOf(leaf: FilterLeaf): readonly unknown[] {
  if (leaf.op === 'exists') return [];
  return 'values' in leaf ? leaf.values : 'value' in leaf ? [leaf.value] : [];
}

/** Text that is the address of a person. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isEmail(value.trim());
}

/** The keys whose value is the list of people itself: there `contains` finds a person among its elements. */
export function isListOfPeople(keys: readonly string[]): boolean {
  return keys.length === 1 && keys[0] === participantsKey;
}
