/** A wide graph in bands below each other, as text is set in lines. Pure: tested without a browser. */
import type { GraphLayout, GraphSizes } from './graph-layout.ts';

interface Room {
  readonly width: number;
  readonly height: number;
}

/** The layout with as many columns in each band as make it largest in the room. */
export function foldToFit(layout: GraphLayout, sizes: GraphSizes, room: Room): GraphLayout {
  const extents = extentsOf(layout, sizes);
  const scaleOf = (width: number, height: number) =>
    Math.min(1, room.width / Math.max(1, width), room.height / Math.max(1, height));
  let scale = scaleOf(layout.width, layout.height);
  let best: number | null = null;
  for (let perBand = extents.length - 1; perBand > 0; perBand -= 1) {
    const height = shiftsOf(extents, perBand, sizes).at(-1)?.bottom ?? 0;
    const folded = scaleOf(widthOf(perBand, layout, sizes), height);
    if (folded <= scale) continue;
    scale = folded;
    best = perBand;
  }
  return best === null ? layout : fold(layout, sizes, best);
}

/** The layout in bands of so many columns; a line from one band to the next runs between them. */
export function fold(layout: GraphLayout, sizes: GraphSizes, perBand: number): GraphLayout {
  const step = stepOf(sizes);
  const bandOf = (x: number) => Math.floor(columnOf(x, sizes) / perBand);
  const shifts = shiftsOf(extentsOf(layout, sizes), perBand, sizes);
  const moved = <Place extends { x: number; y: number }>(place: Place): Place => {
    const band = bandOf(place.x);
    return { ...place, x: place.x - band * perBand * step, y: place.y + shifts[band]!.by };
  };
  const aside = sizes.columnGap / 2;
  return {
    nodes: layout.nodes.map(moved),
    edges: layout.edges.map((edge) => ({
      ...edge,
      points: edge.points.flatMap((point, index) => {
        const to = moved(point);
        const before = edge.points[index - 1];
        const band = bandOf(point.x);
        if (before === undefined || bandOf(before.x) === band) return [to];
        const from = moved(before);
        const between = shifts[band]!.top - sizes.rowGap;
        return [
          { x: from.x + aside, y: from.y },
          { x: from.x + aside, y: between },
          { x: to.x - aside, y: between },
          { x: to.x - aside, y: to.y },
          to,
        ];
      }),
    })),
    width: widthOf(perBand, layout, sizes),
    height: shifts.at(-1)?.bottom ?? 0,
  };
}

const stepOf = (sizes: GraphSizes) => sizes.nodeWidth + sizes.columnGap;
const columnOf = (x: number, sizes: GraphSizes) => Math.floor(x / stepOf(sizes));
const widthOf = (perBand: number, layout: GraphLayout, sizes: GraphSizes) =>
  Math.min(layout.width, perBand * stepOf(sizes) - sizes.columnGap);

interface Extent {
  top: number;
  bottom: number;
}

/** Where the highest and lowest parts of each column are. Lines have hundreds of thousands of points: they are read once. */
function extentsOf(layout: GraphLayout, sizes: GraphSizes): Extent[] {
  const extents: Extent[] = [];
  const widen = (x: number, top: number, bottom: number) => {
    const column = columnOf(x, sizes);
    const extent = extents[column] ?? { top, bottom };
    extents[column] = extent;
    extent.top = Math.min(extent.top, top);
    extent.bottom = Math.max(extent.bottom, bottom);
  };
  for (const { x, y } of layout.nodes) widen(x, y, y + sizes.nodeHeight);
  for (const { points } of layout.edges) for (const { x, y } of points) widen(x, y, y);
  return extents;
}

/** For each band, how far it moves down, and where its highest and lowest parts are then. */
function shiftsOf(extents: readonly Extent[], perBand: number, sizes: GraphSizes) {
  const shifts: (Extent & { by: number })[] = [];
  let top = 0;
  for (let first = 0; first < extents.length; first += perBand) {
    const band = extents.slice(first, first + perBand);
    const highest = Math.min(...band.map((extent) => extent.top));
    const lowest = Math.max(...band.map((extent) => extent.bottom));
    shifts.push({ by: top - highest, top, bottom: top + lowest - highest });
    top += lowest - highest + 2 * sizes.rowGap;
  }
  return shifts;
}
