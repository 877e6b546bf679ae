/** The paths and types of all records of a JSON file, merged from the structures of single records. */

import { recordingLimits } from '../description.ts';
import { TabularError } from '../errors.ts';
import type { SourceKind } from './source.ts';

export interface JsonLeaf {
  /** JSON Pointer within the record. */
  pointer: string;
  /** The same with dots. */
  heading: string;
  kind: SourceKind;
}

/** Objects nested deeper stay JSON text. */
const maxFlatLevels = 16;

interface Node {
  kinds: Set<SourceKind>;
  /** Members in the order of their first appearance; null when never an object. */
  members: Map<string, Node> | null;
}

const newNode = (): Node => ({ kinds: new Set(), members: null });

export class JsonStructure {
  readonly #root = newNode();
  #nodes = 0;

  /**
   * @param text a structure as DuckDB's `json_structure` returns it: type names, lists of one type, objects of types
   * @returns false for a record that is not an object
   * @throws TabularError when there are too many paths
   */
  add(text: string): boolean {
    const structure: unknown = JSON.parse(text);
    // DuckDB returns an object without members as plain JSON.
    if (structure === 'NULL' || structure === 'JSON') return true;
    if (typeof structure !== 'object' || structure === null || Array.isArray(structure)) return false;
    this.#merge(this.#root, structure, 0);
    return true;
  }

  leaves(): JsonLeaf[] {
    const leaves: JsonLeaf[] = [];
    if (this.#root.members !== null) collect(this.#root.members, '', '', leaves);
    if (leaves.length > recordingLimits.columns) throw tooMany();
    return leaves;
  }

  #merge(node: Node, structure: unknown, level: number): void {
    const isObject = typeof structure === 'object' && structure !== null && !Array.isArray(structure);
    if (!isObject || level >= maxFlatLevels) {
      const kind = kindOf(structure);
      if (kind !== 'empty') node.kinds.add(kind);
      return;
    }
    const entries = Object.entries(structure);
    if (entries.length === 0) node.kinds.add('text');
    node.members ??= new Map();
    for (const [name, member] of entries) {
      let child = node.members.get(name);
      if (child === undefined) {
        child = newNode();
        node.members.set(name, child);
        if (++this.#nodes > 2 * recordingLimits.columns) throw tooMany();
      }
      this.#merge(child, member, level + 1);
    }
  }
}

function collect(members: Map<string, Node>, pointer: string, heading: string, leaves: JsonLeaf[]): void {
  for (const [name, node] of members) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const dotted = heading === '' ? name : `${heading}.${name}`;
    // A member that is an object in some records and a plain value in others stays one column of JSON text.
    if (node.members !== null && node.kinds.size === 0 && node.members.size > 0) {
      collect(node.members, at, dotted, leaves);
    } else {
      leaves.push({
        pointer: at,
        heading: dotted,
        kind: node.members === null ? merged(node.kinds) : 'text',
      });
    }
  }
}

function merged(kinds: Set<SourceKind>): SourceKind {
  if (kinds.size === 0) return 'empty';
  return kinds.size === 1 ? ([...kinds][0] as SourceKind) : 'text';
}

function kindOf(structure: unknown): SourceKind {
  switch (structure) {
    case 'NULL':
      return 'empty';
    case 'BIGINT':
    case 'UBIGINT':
    case 'DOUBLE':
    case 'HUGEINT':
      return 'number';
    case 'BOOLEAN':
      return 'boolean';
    default:
      return 'text';
  }
}

function tooMany(): TabularError {
  return new TabularError(`The records have more than ${recordingLimits.columns} different values.`);
}
