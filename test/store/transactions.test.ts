import { beforeAll, expect, test } from 'vitest';
import { databaseStage } from '../support/databases.ts';

const { database } = await databaseStage(2);
beforeAll(async () => {
  await database.query('create table note (text text primary key)');
});

const notes = async () =>
  (await database.query<{ text: string }>('select text from note')).map(({ text }) => text);
const insert = 'insert into note (text) values ($1) returning text';

test('the last statement of a transaction commits with it, and nothing may follow', async () => {
  const rows = await database.transaction(async (tx) => {
    void tx.pipelined(insert, ['first']);
    const last = await tx.last<{ text: string }>(insert, ['last']);
    await expect(tx.query(insert, ['late'])).rejects.toThrow('last statement');
    return last;
  });
  expect(rows).toEqual([{ text: 'last' }]);
  expect(await notes()).toEqual(['first', 'last']);
});

test('a last statement that fails rolls back what was before it, and the connection serves on', async () => {
  await expect(
    database.transaction(async (tx) => {
      void tx.pipelined(insert, ['gone']);
      return tx.last(insert, ['last']);
    }),
  ).rejects.toMatchObject({ code: '23505' });
  await expect(
    database.transaction(async (tx) => {
      void tx.pipelined(insert, ['first']);
      return tx.last(insert, ['never']);
    }),
  ).rejects.toMatchObject({ code: '23505' });
  for (let use = 0; use < 4; use += 1) expect(await notes()).toEqual(['first', 'last']);
});
