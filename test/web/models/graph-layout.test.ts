import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GraphNode, layoutGraph } from '../../../web/src/graph/graph-layout.ts';
import { linesOf } from '../../../web/src/graph/graph-lines.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const sizes = { nodeWidth: 200, nodeHeight: 60, columnGap: 40, rowGap: 20 };

/** Graphs without cycles: each node's parents come before it. */
const graphs = fc
  .array(fc.array(fc.nat(1000), { maxLength: 3 }), { minLength: 1, maxLength: 40 })
  .map((picks) =>
    picks.map((pick, index): GraphNode => {
      const parents = index === 0 ? [] : pick.map((number) => 1 + (number % index));
      return { id: index + 1, parentIds: [...new Set(parents)] };
    }),
  );

describe('layout of a session graph', () => {
  test('puts the shipped template in one straight line from left to right', () => {
    const layout = layoutGraph(
      [
        { id: 1, parentIds: [] },
        { id: 2, parentIds: [1] },
        { id: 3, parentIds: [2] },
      ],
      sizes,
    );
    expect(layout.nodes).toEqual([
      { id: 1, x: 0, y: 0 },
      { id: 2, x: 240, y: 0 },
      { id: 3, x: 480, y: 0 },
    ]);
    expect(layout).toMatchObject({ width: 680, height: 60 });
    expect(linesOf(layout.edges)).toEqual([
      { from: 1, path: 'M200 30L240 30' },
      { from: 2, path: 'M440 30L480 30' },
    ]);
  });

  test('shows every node once, right of its parents, inside the picture and over no other', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const layout = layoutGraph(nodes, sizes);
        const places = new Map(layout.nodes.map((node) => [node.id, node]));
        expect(places.size).toBe(nodes.length);
        for (const node of nodes) {
          for (const parent of node.parentIds) {
            expect(places.get(node.id)!.x).toBeGreaterThan(places.get(parent)!.x);
          }
        }
        for (const [index, a] of layout.nodes.entries()) {
          expect(a.y).toBeGreaterThanOrEqual(0);
          expect(a.x + sizes.nodeWidth).toBeLessThanOrEqual(layout.width);
          expect(a.y + sizes.nodeHeight).toBeLessThanOrEqual(layout.height + 1);
          for (const b of layout.nodes.slice(index + 1)) {
            const apart = a.x !== b.x || Math.abs(a.y - b.y) >= sizes.nodeHeight;
            expect(apart, `${a.id} and ${b.id}`).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('draws one line for every parent', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const wanted = nodes.flatMap((node) => node.parentIds.map((parent) => `${parent}-${node.id}`)).sort();
        const drawn = layoutGraph(nodes, sizes).edges.map((edge) => `${edge.from}-${edge.to}`);
        expect(drawn.sort()).toEqual(wanted);
      }),
      { numRuns: 60 },
    );
  });

  test('untangles two branches that are listed crosswise', () => {
    const layout = layoutGraph(
      [
        { id: 1, parentIds: [] },
        { id: 2, parentIds: [] },
        { id: 3, parentIds: [2] },
        { id: 4, parentIds: [1] },
      ],
      sizes,
    );
    const y = new Map(layout.nodes.map((node) => [node.id, node.y]));
    expect(y.get(1)).toBe(y.get(4));
    expect(y.get(2)).toBe(y.get(3));
  });

  test('tolerates unknown parents and cycles, which no template can have', () => {
    const layout = layoutGraph(
      [
        { id: 1, parentIds: [2, 99] },
        { id: 2, parentIds: [1] },
      ],
      sizes,
    );
    expect(layout.nodes).toHaveLength(2);
    expect(layoutGraph([], sizes)).toEqual({ nodes: [], edges: [], width: 0, height: 0 });
  });

  test('lays out a graph of 500 nodes within a second', () => {
    const nodes = Array.from({ length: 500 }, (_, index) => ({
      id: index,
      parentIds: index < 20 ? [] : [index - 20, index - 1 - (index % 19)],
    }));
    const start = cpuMs();
    layoutGraph(nodes, sizes);
    expect(cpuMs() - start).toBeLessThan(1000);
  });

  test('lays out the longest chain, each of whose nodes reaches all that follow the next, in bounded room', () => {
    const nodes = Array.from({ length: 500 }, (_, index) => ({
      id: index,
      parentIds: [index - 1, index - 2, index % 2 === 0 ? 0 : 1].filter((id) => id >= 0 && id < index),
    }));
    const layout = layoutGraph(nodes, sizes);
    expect(layout.nodes).toHaveLength(500);
    expect(layout.edges.length).toBeGreaterThan(1_400);
  });

  test('draws once what the lines of one parent have together', () => {
    const nodes = Array.from({ length: 500 }, (_, index) => ({
      id: index,
      parentIds: [...new Set([0, index - 1])].filter((id) => id >= 0 && id < index),
    }));
    const lines = linesOf(layoutGraph(nodes, sizes).edges);
    expect(lines).toHaveLength(499);
    const starts = lines[0]!.path.match(/M/g);
    expect(starts).toHaveLength(499);
    expect(lines.reduce((sum, { path }) => sum + path.length, 0)).toBeLessThan(100_000);
  });
});
