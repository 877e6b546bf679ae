/** A wide graph in bands below each other, as text is set in lines. Pure: tested without a browser. */
import type { GraphLayout, GraphSizes } from './graph-layout.ts';

interface Room {
  readonly width: number;
  readonly height: number;
}

/** The layout with as many columns in each band as make it largest in the room. */
export function foldToFit(layout: GraphLayout, sizes: GraphSizes, room: Room): GraphLayout {
  const columns = Math.round((layout.width + sizes.columnGap) / (sizes.nodeWidth + sizes.columnGap));
  const scaleOf = ({ width, height }: GraphLayout) =>
    Math.min(1, room.width / Math.max(1, width), room.height / Math.max(1, height));
  let best = layout;
  for (let perBand = columns - 1; perBand > 0; perBand -= 1) {
    const folded = fold(layout, sizes, perBand);
    if (scaleOf(folded) > scaleOf(best)) best = folded;
  }
  return best;
}

/** The layout in bands of so many columns; a line from one band to the next runs between them. */
export function fold(layout: GraphLayout, sizes: GraphSizes, perBand: number): GraphLayout {
  const step = sizes.nodeWidth + sizes.columnGap;
  const bandOf = (x: number) => Math.floor(Math.floor(x / step) / perBand);
  const shifts = shiftsOf(layout, sizes, bandOf);
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
    width: Math.min(layout.width, perBand * step - sizes.columnGap),
    height: shifts.at(-1)?.bottom ?? 0,
  };
}

/** For each band, how far it moves down, and where its highest and lowest parts are then. */
function shiftsOf(layout: GraphLayout, sizes: GraphSizes, bandOf: (x: number) => number) {
  const parts: { top: number; bottom: number }[] = [];
  const widen = (x: number, top: number, bottom: number) => {
    const band = bandOf(x);
    const part = parts[band] ?? { top, bottom };
    parts[band] = { top: Math.min(part.top, top), bottom: Math.max(part.bottom, bottom) };
  };
  for (const { x, y } of layout.nodes) widen(x, y, y + sizes.nodeHeight);
  for (const { points } of layout.edges) for (const { x, y } of points) widen(x, y, y);
  let top = 0;
  return parts.map((part) => {
    const shift = { by: top - part.top, top, bottom: top + part.bottom - part.top };
    top = shift.bottom + 2 * sizes.rowGap;
    return shift;
  });
}
