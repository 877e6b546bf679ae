/** The lines of a placed graph as SVG paths. Pure: tested without a browser. */
import type { PlacedEdge } from './graph-layout.ts';

type Point = PlacedEdge['points'][number];

/**
 * One path for the lines of each parent. They run together until they separate: what the longest has drawn is not drawn
 * again, which would be hundreds of thousands of points where all nodes have one parent.
 */
export function linesOf(edges: readonly PlacedEdge[]): { from: number; path: string }[] {
  const lines = new Map<number, { from: number; points: Point[]; path: string }>();
  for (const { from, points } of [...edges].sort((a, b) => b.points.length - a.points.length)) {
    const line = lines.get(from);
    if (line === undefined) lines.set(from, { from, points, path: edgePath(points) });
    else line.path += edgePath(points.slice(leaves(points, line.points)));
  }
  return [...lines.values()].map(({ from, path }) => ({ from, path }));
}

/** The place of the last point that both lines have. */
const leaves = (points: readonly Point[], other: readonly Point[]): number =>
  Math.max(0, points.findIndex(({ x, y }, place) => x !== other[place]?.x || y !== other[place]?.y) - 1);

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
