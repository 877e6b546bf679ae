/** Which values of a filter mean a person: equality with people, and lists of them, accept an address. */
import { isEmail } from '../text.ts';
import type { FilterLeaf, FilterNode } from './session-filter.ts';

/** What the metadata hold of people (decisions 5). */
const peopleKeys = ['openedBy', 'closedBy', 'participants'];

const isEquality = ({ op }: FilterLeaf) => op === 'eq' || op === 'ne';

/** Whether an address as a value of this leaf means the person: for equality with people, and in lists of them. */
export function isPersonPlace(leaf: FilterLeaf): boolean {
  if (leaf.kind === 'property') return leaf.property === 'email' && isEquality(leaf);
  if (leaf.kind === 'annotation') return false;
  return (
    peopleKeys.includes(leaf.keys[0] ?? '') &&
    (isEquality(leaf) || leaf.op === 'in' || leaf.op === 'contains')
  );
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
  return keys.length === 1 && keys[0] === 'participants';
}
