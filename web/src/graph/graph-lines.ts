/** The lines of a placed graph as SVG paths. Pure: tested without a browser. */
import type { PlacedEdge } from './graph-layout.ts';

type Point = PlacedEdge['points'][number];

/**
 * One path for the lines of each parent. They run together until they separate: what the longest has drawn is not drawn
 * again, which would be hundreds of thousands of points where all nodes have one parent.
 */
export function linesOf(edges: readonly PlacedEdge[]): { from: number; path: string }[] {
  const byParent = new Map<number, PlacedEdge[]>();
  for (const edge of edges) {
    const own = byParent.get(edge.from);
    if (own === undefined) byParent.set(edge.from, [edge]);
    else own.push(edge);
  }
  return [...byParent].map(([from, own]) => {
    const longest = own.reduce((one, other) => (other.points.length > one.points.length ? other : one));
    const paths = own.map((edge) =>
      edgePath(edge === longest ? edge.points : edge.points.slice(sharedPoints(edge.points, longest.points))),
    );
    return { from, path: paths.join('') };
  });
}

/** Where the line leaves the other one: the place of the last point that both have. */
function sharedPoints(points: readonly Point[], other: readonly Point[]): number {
  let place = 0;
  while (
    place < points.length &&
    points[place]!.x === other[place]?.x &&
    points[place]!.y === other[place]?.y
  )
    place += 1;
  return Math.max(0, place - 1);
}

/** The line through an edge's points as an SVG path, leaving and entering level. */
function edgePath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first.x} ${first.y}`;
  let before = first;
  for (const point of rest) {
    const middle = (before.x + point.x) / 2;
    path +=
      before.y === point.y
        ? `L${point.x} ${point.y}`
        : `C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    before = point;
  }
  return path;
}
