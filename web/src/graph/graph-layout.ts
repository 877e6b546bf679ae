/**
 * Places a session's graph: columns from left to right, each node right of all its parents, few crossings, and
 * lines as straight as the room allows. Pure: tested without a browser.
 */

export interface GraphNode {
  id: number;
  parentIds: readonly number[];
}

export interface PlacedNode {
  id: number;
  x: number;
  y: number;
}

export interface PlacedEdge {
  from: number;
  to: number;
  /** Points that the line passes, from the right side of the parent to the left side of the child. */
  points: { x: number; y: number }[];
}

export interface GraphLayout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

export interface GraphSizes {
  nodeWidth: number;
  nodeHeight: number;
  columnGap: number;
  rowGap: number;
}

/** A node, or a bend of a line that passes through a column. */
interface Vertex {
  /** Null for a bend. */
  node: number | null;
  column: number;
  height: number;
  left: Vertex[];
  right: Vertex[];
  place: number;
  centre: number;
}

const orderSweeps = 8;
const straightenSweeps = 8;

/** Lays out `nodes`; parents that are not among them are ignored. */
export function layoutGraph(nodes: readonly GraphNode[], sizes: GraphSizes): GraphLayout {
  const columnOf = assignColumns(nodes);
  const { columns, lines } = buildColumns(nodes, columnOf, sizes);
  orderColumns(columns);
  placeColumns(columns, sizes.rowGap);
  return measure(columns, lines, sizes);
}

/** Longest path from a node without parents. If the data contain a cycle, its nodes stay in the first column. */
function assignColumns(nodes: readonly GraphNode[]): Map<number, number> {
  const known = new Set(nodes.map((node) => node.id));
  const children = new Map<number, number[]>();
  const waiting = new Map<number, number>();
  for (const node of nodes) {
    const parents = node.parentIds.filter((id) => known.has(id) && id !== node.id);
    waiting.set(node.id, parents.length);
    for (const parent of parents) {
      const known = children.get(parent);
      if (known === undefined) children.set(parent, [node.id]);
      else known.push(node.id);
    }
  }
  const columns = new Map<number, number>(nodes.map((node) => [node.id, 0]));
  const ready = nodes.filter((node) => waiting.get(node.id) === 0).map((node) => node.id);
  for (let index = 0; index < ready.length; index += 1) {
    const id = ready[index]!;
    for (const child of children.get(id) ?? []) {
      columns.set(child, Math.max(columns.get(child)!, columns.get(id)! + 1));
      const left = waiting.get(child)! - 1;
      waiting.set(child, left);
      if (left === 0) ready.push(child);
    }
  }
  return columns;
}

interface Line {
  from: number;
  to: number;
  vertices: Vertex[];
}

function buildColumns(nodes: readonly GraphNode[], columnOf: Map<number, number>, sizes: GraphSizes) {
  const columns: Vertex[][] = [];
  const vertices = new Map<number, Vertex>();
  const add = (node: number | null, column: number): Vertex => {
    const height = node === null ? 4 : sizes.nodeHeight;
    const vertex: Vertex = { node, column, height, left: [], right: [], place: 0, centre: 0 };
    while (columns.length <= column) columns.push([]);
    columns[column]!.push(vertex);
    return vertex;
  };
  for (const node of nodes) vertices.set(node.id, add(node.id, columnOf.get(node.id)!));
  // Lines of one parent run together until they separate: their bends are bounded by nodes and columns, not by lines.
  const bends = new Map<Vertex, Vertex[]>();
  const bendsTo = (start: Vertex, column: number): Vertex[] => {
    const known = bends.get(start) ?? [];
    bends.set(start, known);
    while (start.column + 1 + known.length < column) {
      const bend = add(null, start.column + 1 + known.length);
      connect(known.at(-1) ?? start, bend);
      known.push(bend);
    }
    return known.slice(0, column - start.column - 1);
  };
  const lines: Line[] = [];
  for (const node of nodes) {
    for (const parent of new Set(node.parentIds)) {
      const start = vertices.get(parent);
      const end = vertices.get(node.id)!;
      if (start === undefined || start.column >= end.column) continue;
      const between = bendsTo(start, end.column);
      connect(between.at(-1) ?? start, end);
      lines.push({ from: parent, to: node.id, vertices: [start, ...between, end] });
    }
  }
  return { columns, lines };
}

function connect(left: Vertex, right: Vertex): void {
  left.right.push(right);
  right.left.push(left);
}

/** Sorts each column by the places of its neighbours, back and forth, and uses the order with fewest crossings. */
function orderColumns(columns: Vertex[][]): void {
  number(columns);
  let best = columns.map((column) => [...column]);
  let fewest = countCrossings(columns);
  for (let sweep = 0; sweep < orderSweeps && fewest > 0; sweep += 1) {
    const rightwards = sweep % 2 === 0;
    const sequence = rightwards ? columns : [...columns].reverse();
    for (const column of sequence) {
      const weight = new Map(
        column.map((vertex) => [vertex, meanPlace(rightwards ? vertex.left : vertex.right, vertex)]),
      );
      column.sort((a, b) => weight.get(a)! - weight.get(b)! || a.place - b.place);
      for (const [place, vertex] of column.entries()) vertex.place = place;
    }
    const crossings = countCrossings(columns);
    if (crossings < fewest) {
      fewest = crossings;
      best = columns.map((column) => [...column]);
    }
  }
  for (const [index, column] of best.entries()) columns[index] = column;
  number(columns);
}

function number(columns: Vertex[][]): void {
  for (const column of columns) for (const [place, vertex] of column.entries()) vertex.place = place;
}

function meanPlace(neighbours: Vertex[], self: Vertex): number {
  if (neighbours.length === 0) return self.place;
  return neighbours.reduce((sum, neighbour) => sum + neighbour.place, 0) / neighbours.length;
}

/** Pairs of lines between neighbouring columns that cross: inversions, counted with a Fenwick tree. */
function countCrossings(columns: Vertex[][]): number {
  let crossings = 0;
  for (const [index, column] of columns.entries()) {
    const tree = new Int32Array((columns[index + 1]?.length ?? 0) + 1);
    let seen = 0;
    // Columns are in the order of their places.
    for (const vertex of column) {
      for (const target of vertex.right) crossings += seen - countUpTo(tree, target.place);
      for (const target of vertex.right) addAt(tree, target.place);
      seen += vertex.right.length;
    }
  }
  return crossings;
}

function addAt(tree: Int32Array, place: number): void {
  for (let at = place + 1; at < tree.length; at += at & -at) tree[at]! += 1;
}

/** How many were added at this place and before it. */
function countUpTo(tree: Int32Array, place: number): number {
  let count = 0;
  for (let at = place + 1; at > 0; at -= at & -at) count += tree[at]!;
  return count;
}

/** Moves every vertex towards the middle of its neighbours, as far as order and distance allow. */
function placeColumns(columns: Vertex[][], rowGap: number): void {
  for (const column of columns) spread(column, rowGap, (vertex) => vertex.place * (vertex.height + rowGap));
  for (let sweep = 0; sweep < straightenSweeps; sweep += 1) {
    const rightwards = sweep % 2 === 0;
    for (const column of rightwards ? columns : [...columns].reverse()) {
      spread(column, rowGap, (vertex) => {
        const near = rightwards ? vertex.left : vertex.right;
        const others = near.length > 0 ? near : rightwards ? vertex.right : vertex.left;
        if (others.length === 0) return vertex.centre;
        return others.reduce((sum, other) => sum + other.centre, 0) / others.length;
      });
    }
  }
}

/** Least squares under the distances: pools neighbours that would come too close (isotonic regression). */
function spread(column: Vertex[], rowGap: number, wanted: (vertex: Vertex) => number): void {
  const offsets: number[] = [];
  for (const [index, vertex] of column.entries()) {
    const before = column[index - 1];
    const distance = before === undefined ? 0 : (before.height + vertex.height) / 2 + rowGap;
    offsets.push((offsets[index - 1] ?? 0) + distance);
  }
  const pools: { sum: number; count: number }[] = [];
  for (const [index, vertex] of column.entries()) {
    let pool = { sum: wanted(vertex) - offsets[index]!, count: 1 };
    let last = pools.at(-1);
    while (last !== undefined && last.sum / last.count > pool.sum / pool.count) {
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
      last = pools.at(-1);
    }
    pools.push(pool);
  }
  let index = 0;
  for (const pool of pools) {
    for (let member = 0; member < pool.count; member += 1) {
      column[index]!.centre = pool.sum / pool.count + offsets[index]!;
      index += 1;
    }
  }
}

function measure(columns: Vertex[][], lines: Line[], sizes: GraphSizes): GraphLayout {
  const all = columns.flat();
  const top = all.reduce((least, vertex) => Math.min(least, vertex.centre - vertex.height / 2), 0);
  const bottom = all.reduce((most, vertex) => Math.max(most, vertex.centre + vertex.height / 2), 0);
  const step = sizes.nodeWidth + sizes.columnGap;
  const leftOf = (vertex: Vertex) => vertex.column * step;
  const nodes = all
    .filter((vertex) => vertex.node !== null)
    .map((vertex) => ({
      id: vertex.node!,
      x: leftOf(vertex),
      y: Math.round(vertex.centre - sizes.nodeHeight / 2 - top),
    }));
  const edges = lines.map((line) => ({
    from: line.from,
    to: line.to,
    points: line.vertices.flatMap((vertex, index) => {
      const y = Math.round(vertex.centre - top);
      const left = { x: leftOf(vertex), y };
      const right = { x: leftOf(vertex) + sizes.nodeWidth, y };
      if (index === 0) return [right];
      return index === line.vertices.length - 1 ? [left] : [left, right];
    }),
  }));
  return {
    nodes,
    edges,
    width: Math.max(0, columns.length * step - sizes.columnGap),
    height: Math.round(bottom - top),
  };
}
