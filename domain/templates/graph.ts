/** Directed graphs of named nodes: what the nodes of a template, and of a session, form (contract: Template definition file). */

export interface GraphNode {
  readonly name: string;
  /** Names of the nodes whose outputs this one reads. */
  readonly parents: readonly string[];
}

export type GraphOrder =
  | {
      readonly kind: 'acyclic';
      /** Indexes of the nodes, parents before children. */
      readonly order: number[];
    }
  | {
      readonly kind: 'cycle';
      /** Names around one cycle, each a parent of the next; the first is repeated. */
      readonly names: string[];
    };

/** Indexes of each node's parents. Names that no node has are left out; a name given twice counts once. */
export function parentIndexes(nodes: readonly GraphNode[]): number[][] {
  const indexByName = new Map(nodes.map((node, index) => [node.name, index]));
  return nodes.map((node) => [
    ...new Set(node.parents.map((name) => indexByName.get(name)).filter((index) => index !== undefined)),
  ]);
}

/** Indexes of each node's children, the inverse of {@link parentIndexes}. */
export function childIndexes(parents: readonly (readonly number[])[]): number[][] {
  const children: number[][] = parents.map(() => []);
  for (const [child, ofChild] of parents.entries())
    for (const parent of ofChild) children[parent]?.push(child);
  return children;
}

/**
 * Orders the nodes so that parents come before children (ties by the given order), or names a cycle.
 * Linear in nodes and edges; no recursion, so that depth costs no stack.
 */
export function orderGraph(nodes: readonly GraphNode[]): GraphOrder {
  const parents = parentIndexes(nodes);
  const children = childIndexes(parents);
  const missing = parents.map((list) => list.length);
  const order = [...nodes.keys()].filter((index) => missing[index] === 0);
  for (let at = 0; at < order.length; at++) {
    for (const child of children[order[at]!] ?? []) {
      missing[child]!--;
      if (missing[child] === 0) order.push(child);
    }
  }
  if (order.length === nodes.length) return { kind: 'acyclic', order };
  return { kind: 'cycle', names: findCycle(parents, missing).map((index) => nodes[index]!.name) };
}

/** Every node that still misses a parent has such a parent itself, so walking up from one must come round. */
function findCycle(parents: readonly (readonly number[])[], missing: readonly number[]): number[] {
  const path: number[] = [];
  const placeInPath = new Map<number, number>();
  let current = missing.findIndex((count) => count > 0);
  while (!placeInPath.has(current)) {
    placeInPath.set(current, path.length);
    path.push(current);
    current = parents[current]!.find((parent) => missing[parent]! > 0)!;
  }
  const cycle = path.slice(placeInPath.get(current)!).reverse();
  return [current, ...cycle.filter((index) => index !== current), current];
}

/** True when both have the same node names and each name has the same set of parents: the order of neither counts. */
export function isSameGraph(left: readonly GraphNode[], right: readonly GraphNode[]): boolean {
  if (left.length !== right.length) return false;
  const parentsByName = new Map(right.map((node) => [node.name, new Set(node.parents)]));
  return left.every((node) => {
    const others = parentsByName.get(node.name);
    const own = new Set(node.parents);
    return others !== undefined && own.size === others.size && own.isSubsetOf(others);
  });
}
