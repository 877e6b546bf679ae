/** The choice of machines of a dashboard with thousands of recordings. */
import { expect, test } from 'vitest';
import { offeredAtOnce, offeredMachines } from '../../../../web/src/dashboard/machines.ts';

const machinesOf = (count: number) =>
  Array.from({ length: count }, (_, lap) => ({ id: `lap-${lap}`, title: `Lap ${lap}` }));
const idsOf = (machines: readonly { id: string }[]) => machines.map(({ id }) => id);

test('a few machines are all offered', () => {
  const few = machinesOf(offeredAtOnce);
  expect(offeredMachines(few, new Set(['lap-0']), '')).toBe(few);
});

test('of thousands of recordings the shown ones are offered, in their order, and no more others than have room above the charts', () => {
  const chosen = new Set(['lap-0', 'lap-3999']);
  const offered = idsOf(offeredMachines(machinesOf(4000), chosen, ''));
  expect(offered).toHaveLength(offeredAtOnce + chosen.size);
  expect([offered[0], offered.at(-1)]).toEqual(['lap-0', 'lap-3999']);
});

test('a search finds each of the others, in capitals too, and keeps the shown ones', () => {
  const offered = offeredMachines(machinesOf(4000), new Set(['lap-7']), ' LAP 3127 ');
  expect(idsOf(offered)).toEqual(['lap-7', 'lap-3127']);
});
