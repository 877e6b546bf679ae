/** Columns of reports that are ticked, without a browser. */
import { expect, test } from 'vitest';
import { compileExpression } from '../../../domain/reports/report-expression.ts';
import { draftOf, fieldsOf, fileNameOf } from '../../../web/src/reports/model.ts';
import {
  channelPick,
  channelStatistics,
  firstColumns,
  isPicked,
  metadataExpression,
  picked,
  picksOf,
} from '../../../web/src/reports/picks.ts';

const keys = [
  { path: 'tyre.kind', sessions: 3, samples: ['soft', 'hard'] },
  { path: 'lap time.best', sessions: 2, samples: [92.4] },
  { path: 'in', sessions: 1, samples: [true] },
];

test('every column to tick is an expression that the platform takes', () => {
  for (const { expression, source } of picksOf(keys))
    expect(compileExpression(expression, source, { checksNames: true }), expression).toMatchObject({
      ok: true,
    });
});

test('statistics of a channel are columns of numbers, whatever it is called', () => {
  const picks = ['speed', 'engine "speed"', 'in'].flatMap((name) =>
    channelStatistics.map((statistic) => channelPick({ name, unit: 'km/h', dashboards: 1 }, statistic)),
  );
  expect(picks[0]).toMatchObject({
    name: 'Highest speed [km/h]',
    expression: 'channels.speed.max',
    type: 'number',
  });
  expect(picks[4]).toMatchObject({ name: 'Values speed', expression: 'channels.speed.count' });
  for (const { expression, source } of picks)
    expect(compileExpression(expression, source, { checksNames: true }), expression).toMatchObject({
      ok: true,
    });
});

test('metadata keep their type and their odd names', () => {
  expect(metadataExpression('lap time.best')).toBe('metadata["lap time"].best');
  expect(
    picksOf(keys)
      .slice(-3)
      .map(({ type, sample }) => [type, sample]),
  ).toEqual([
    ['string', 'soft, hard'],
    ['number', '92.4'],
    ['boolean', 'true'],
  ]);
});

test('a tick adds a column and takes away just that one', () => {
  const pick = picksOf(keys).find(({ name }) => name === 'tyre.kind')!;
  const columns = picked(firstColumns(), pick, true);
  expect(columns.map(({ name }) => name)).toEqual(['Session', 'Project', 'tyre.kind']);
  expect(isPicked(pick, columns)).toBe(true);
  expect(picked(columns, pick, false).map(({ name }) => name)).toEqual(['Session', 'Project']);
});

test('the file is called like the report', () => {
  expect(fileNameOf(' Drivers: March / April! ')).toBe('Drivers March April');
  expect(fileNameOf('***')).toBe('');
  expect(fieldsOf({ ...draftOf(null), name: 'Drivers' }).fileName).toBe('Drivers');
  expect(fieldsOf({ ...draftOf(null), name: 'Drivers', fileName: 'List' }).fileName).toBe('List');
});

test('a report has a key whatever its name is written in, and a long one none that ends in a hyphen', () => {
  const keyOf = (name: string) => fieldsOf({ ...draftOf(null), name }).key;
  const form = /^[a-z0-9]+(-[a-z0-9]+)*$/;
  const names = ['日本語レポート', 'Отчёт', '🏁', `${'a'.repeat(63)} b`];
  for (const name of names) expect(keyOf(name)).toMatch(form);
  expect(keyOf('日本語レポート')).not.toBe(keyOf('Отчёт'));
  expect(keyOf('Flight list')).toBe('flight-list');
});
