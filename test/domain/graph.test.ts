import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  childIndexes,
  type GraphNode,
  isSameGraph,
  orderGraph,
  parentIndexes,
} from '../../domain/templates/graph.ts';
import { cpuMs } from '../support/cpu-time.ts';

const node = (name: string, ...parents: string[]): GraphNode => ({ name, parents });

/** Acyclic by construction: a node's parents are among the earlier ones; the list is then shuffled. */
const acyclic = fc
  .integer({ min: 1, max: 40 })
  .chain((count) =>
    fc.tuple(
      fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: count, maxLength: count }),
      fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count }),
    ),
  )
  .map(([raw, shuffled]) => {
    const nodes = raw.map((parents, index) =>
      node(`n${index}`, ...(index === 0 ? [] : parents.map((value) => `n${value % index}`))),
    );
    return shuffled.map((index) => nodes[index]!);
  });

describe('orderGraph', () => {
  test('puts every parent before its children, each node once', () => {
    fc.assert(
      fc.property(acyclic, (nodes) => {
        const result = orderGraph(nodes);
        if (result.kind !== 'acyclic') throw new Error(`cycle ${result.names}`);
        expect([...result.order].sort((a, b) => a - b)).toEqual([...nodes.keys()]);
        const placeOf = new Map(result.order.map((index, place) => [nodes[index]!.name, place]));
        for (const { name, parents } of nodes)
          for (const parent of parents) expect(placeOf.get(parent)!).toBeLessThan(placeOf.get(name)!);
      }),
    );
  });

  test('names a real cycle whenever a back edge closes one', () => {
    fc.assert(
      fc.property(acyclic, fc.nat(), (nodes, pick) => {
        const children = childIndexes(parentIndexes(nodes));
        const from = pick % nodes.length;
        const reachable = [from];
        for (let at = 0; at < reachable.length; at++) {
          for (const child of children[reachable[at]!]!)
            if (!reachable.includes(child)) reachable.push(child);
        }
        const last = nodes[reachable.at(-1)!]!;
        const closed = nodes.map((item, index) =>
          index === from ? node(item.name, ...item.parents, last.name) : item,
        );
        const result = orderGraph(closed);
        if (result.kind !== 'cycle') throw new Error('no cycle found');
        expect(result.names.length).toBeGreaterThan(1);
        expect(result.names[0]).toBe(result.names.at(-1));
        const parentsOf = new Map(closed.map((item) => [item.name, item.parents]));
        for (let at = 1; at < result.names.length; at++) {
          expect(parentsOf.get(result.names[at]!)).toContain(result.names[at - 1]);
        }
        expect(new Set(result.names.slice(1)).size).toBe(result.names.length - 1);
      }),
    );
  });

  test.each([
    ['a node that is its own parent', [node('a', 'a')], ['a', 'a']],
    ['two nodes', [node('a', 'b'), node('b', 'a')], undefined],
    ['a cycle below a root', [node('r'), node('a', 'r', 'c'), node('b', 'a'), node('c', 'b')], undefined],
  ])('finds the cycle of %s', (_, nodes, names) => {
    const result = orderGraph(nodes);
    expect(result.kind).toBe('cycle');
    if (names && result.kind === 'cycle') expect(result.names).toEqual(names);
  });

  test('takes 500 nodes with every possible edge in well under a second', () => {
    const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
    const full = names.map((name, index) => node(name, ...names.slice(0, index)));
    const began = cpuMs();
    expect(orderGraph(full).kind).toBe('acyclic');
    expect(cpuMs() - began).toBeLessThan(1000);
  });
});

describe('isSameGraph', () => {
  test('ignores the order of nodes and of parents', () => {
    expect(
      isSameGraph([node('a'), node('b'), node('c', 'a', 'b')], [node('c', 'b', 'a'), node('b'), node('a')]),
    ).toBe(true);
  });

  test.each([
    ['a node more', [node('a'), node('b', 'a')]],
    ['another name', [node('x')]],
    ['another parent', [node('a'), node('b'), node('c', 'a')]],
  ])('tells %s', (_, other) => {
    expect(isSameGraph([node('a')], other)).toBe(false);
    expect(isSameGraph([node('a'), node('b'), node('c', 'b')], other)).toBe(false);
  });

  test('tells a parent more and a parent less', () => {
    const one = [node('a'), node('b'), node('c', 'a')];
    const two = [node('a'), node('b'), node('c', 'a', 'b')];
    expect([isSameGraph(one, two), isSameGraph(two, one)]).toEqual([false, false]);
  });
});
