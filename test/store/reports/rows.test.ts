import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type CompiledReport, compileReport, reportRows } from '../../../store/reports/rows.ts';
import { databaseStage } from '../../support/databases.ts';
import { makeGraph } from '../../support/graph.ts';

const { database } = await databaseStage(8);
const reports = 8;
const subjects = 6;
/** A row is then a slice of its own. */
const rowMs = 25;

test('many reports that are written at once leave turns to other work, after a slice of one of them', async () => {
  for (let made = 0; made < subjects; made += 1) await makeGraph(database, [{ name: 'a', parents: [] }]);
  let rows = 0;
  const evaluate = () => {
    rows += 1;
    const until = performance.now() + rowMs;
    while (performance.now() < until);
    return 1;
  };
  const column = { columnKey: 'n', name: 'n', expression: '1', source: 'dimension', type: 'number' };
  const report = {
    ...compileReport([], []),
    columns: [{ column, evaluate }],
  } as unknown as CompiledReport;
  const write = async () => {
    let written = 0;
    const people = { shown: async () => new Map() };
    const request = { covers: 'sessions', filter: {}, people, annotationsFrom: database } as const;
    for await (const batch of reportRows(database, report, request)) written += batch.length;
    return written;
  };
  let isDone = false;
  const all = Promise.all(Array.from({ length: reports }, write)).finally(() => (isDone = true));
  const inTurn: number[] = [];
  for (let before = 0; !isDone; before = rows) {
    await nextTurn();
    inTurn.push(rows - before);
  }
  expect(await all).toEqual(Array.from({ length: reports }, () => subjects));
  // In each the first one of a report whose rows have come may be done too.
  expect(inTurn.filter((count) => count > 2).length).toBeLessThanOrEqual(reports / 2);
  expect(inTurn.filter((count) => count > 0).length).toBeGreaterThan((reports * (subjects - 1)) / 2);
});

test('a report holds the metadata of its next sessions as short as they are stored, not as objects', async () => {
  const sessions = 100;
  for (let made = 0; made < sessions; made += 1) await makeGraph(database, []);
  const keys = 4_000;
  await database.query(
    `update session set metadata = (select jsonb_object_agg('key-' || key, 'x') from generate_series(1, $1) key)`,
    [keys],
  );
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapBytes();
  const held: number[] = [];
  const column = { columnKey: 'n', name: 'n', expression: 'size(metadata)', format: '', order: 1 };
  const report = compileReport([{ ...column, source: 'metadata', type: 'number' }], []);
  const measured = report.columns.map(({ column, evaluate }) => ({
    column,
    evaluate: (row: Parameters<typeof evaluate>[0]) => {
      if (held.length === 0) held.push(heapBytes() - before);
      return evaluate(row);
    },
  }));
  const people = { shown: async () => new Map() };
  const request = { covers: 'sessions', filter: {}, people, annotationsFrom: database } as const;
  const sizes = new Set<unknown>();
  for await (const batch of reportRows(database, { ...report, columns: measured }, request))
    for (const [cell] of batch) sizes.add(cell?.type === 'number' && cell.value);
  expect([...sizes]).toEqual([keys]);
  const storedBytes = sessions * keys * '"key-1000": "x", '.length;
  expect(held[0]).toBeLessThan(1.5 * storedBytes);
});
