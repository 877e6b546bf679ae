/** A wide graph in bands, without a browser. */
import { expect, test } from 'vitest';
import { fold, foldToFit } from '../../../web/src/graph/graph-fold.ts';
import { layoutGraph } from '../../../web/src/graph/graph-layout.ts';

const sizes = { nodeWidth: 200, nodeHeight: 60, columnGap: 40, rowGap: 20 };
const chain = (length: number) =>
  layoutGraph(
    Array.from({ length }, (_, index) => ({ id: index + 1, parentIds: index === 0 ? [] : [index] })),
    sizes,
  );

test('a chain is set in lines, and a line between two nodes runs between the bands', () => {
  const folded = fold(chain(5), sizes, 2);
  expect(folded.nodes.map(({ x, y }) => [x, y])).toEqual([
    [0, 0],
    [240, 0],
    [0, 100],
    [240, 100],
    [0, 200],
  ]);
  expect([folded.width, folded.height]).toEqual([440, 260]);
  expect(folded.edges[1]!.points.map(({ x, y }) => [x, y])).toEqual([
    [440, 30],
    [460, 30],
    [460, 80],
    [-20, 80],
    [-20, 130],
    [0, 130],
  ]);
});

test('nodes stay apart, whatever the graph and the number of columns', () => {
  const wide = layoutGraph(
    Array.from({ length: 60 }, (_, index) => ({
      id: index + 1,
      parentIds: index === 0 ? [] : [...new Set([Math.max(1, index - 3), Math.ceil(index / 2)])],
    })),
    sizes,
  );
  for (const perBand of [1, 3, 7, 20]) {
    const { nodes, width, height } = fold(wide, sizes, perBand);
    for (const [index, a] of nodes.entries()) {
      expect(a.x >= 0 && a.x + sizes.nodeWidth <= width).toBe(true);
      expect(a.y >= 0 && a.y + sizes.nodeHeight <= height).toBe(true);
      for (const b of nodes.slice(index + 1))
        expect(Math.abs(a.x - b.x) >= sizes.nodeWidth || Math.abs(a.y - b.y) >= sizes.nodeHeight).toBe(true);
    }
  }
});

test('a graph is folded only where that makes it larger', () => {
  const room = { width: 720, height: 540 };
  const short = chain(3);
  expect(foldToFit(short, sizes, room)).toBe(short);
  const { width, height } = foldToFit(chain(41), sizes, room);
  expect(Math.min(room.width / width, room.height / height)).toBeGreaterThan(0.5);
});

test('the lines of 500 nodes in a row, all of them fed by the first, are read a few times', () => {
  const nodes = Array.from({ length: 500 }, (_, index) => ({
    id: index + 1,
    parentIds: index === 0 ? [] : [...new Set([1, index])],
  }));
  const layout = layoutGraph(nodes, sizes);
  let reads = 0;
  const edges = new Proxy(layout.edges, {
    get: (target, key) => {
      if (key === 'length') reads += 1;
      return Reflect.get(target, key);
    },
  });
  foldToFit({ ...layout, edges }, sizes, { width: 900, height: 540 });
  expect(reads).toBeLessThan(10 * nodes.length);
});
