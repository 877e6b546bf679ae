import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isDatabaseUnavailable, isReadOnly } from '../../domain/network/database-fault.ts';
import { Database, type Tx } from '../../store/connection/database.ts';
import { connected, databaseStage } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openGate } from '../support/network/gate.ts';

const { database, platform } = await databaseStage(2);
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

test('of statements sent side by side the one that failed first is reported, though the others are reported before', async () => {
  const slowlyReported = async (rows: Promise<unknown>) =>
    rows.catch(async (error) => {
      await setImmediate();
      throw error;
    });
  const failing = (tx: Tx) => slowlyReported(tx.query(insert, ['first']));
  await expect(
    database.transaction((tx) => Promise.all([failing(tx), tx.query('select 1')])),
  ).rejects.toMatchObject({ code: '23505' });
  await expect(
    database.transaction((tx) => Promise.all([failing(tx), tx.pipelined('select 1')])),
  ).rejects.toMatchObject({ code: '23505' });
});

test('a value that cannot be sent keeps its statement and the commit from being sent', async () => {
  const unsendable = {
    toJSON(): never {
      throw new Error('has no text');
    },
  };
  const before = await notes();
  for (const send of ['last', 'pipelined'] as const)
    await expect(
      database.transaction(async (tx) => {
        void tx.pipelined(insert, [`before ${send}`]);
        return tx[send](insert, [unsendable]);
      }),
    ).rejects.toThrow('has no text');
  for (let use = 0; use < 4; use += 1) expect(await notes()).toEqual(before);
});

/** Which of the two loses is the database's choice: after a pause of the machine it may be the transaction. */
test('a statement that lost a deadlock is done when the other transaction has ended', async () => {
  const lock = 'select text from note where text = $1 for update';
  const deadlock = async () => {
    await database.query('truncate note');
    await database.query(`insert into note (text) values ('one'), ('other')`);
    let tries = 0;
    const statement = await database.transaction(async (tx) => {
      tries += 1;
      if (tries > 1) return undefined;
      await tx.query(lock, ['other']);
      const alone = database.query<{ text: string }>(
        `with held as materialized (${lock})
         update note set text = 'changed' from held where note.text = 'other' returning note.text`,
        ['one'],
      );
      alone.catch(() => undefined);
      const waiting =
        'select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))';
      await eventually('the statement waits', async () => (await tx.query(waiting)).length > 0);
      await tx.query(lock, ['one']);
      return { alone };
    });
    return statement?.alone;
  };
  expect(await eventually('the statement loses the deadlock', deadlock)).toEqual([{ text: 'changed' }]);
});

test('a connection whose server vanished without a word is given up soon after the longest statement, and replaced', async () => {
  const gate = await openGate(platform.databaseUrl);
  onTestFinished(() => gate.close());
  const through = new URL(platform.databaseUrl);
  through.port = String(gate.port);
  const settings = { poolSize: 1, maxStatementMs: 500 };
  const lost = await Database.open({ ...settings, databaseUrl: through.href });
  onTestFinished(() => lost.close());
  await lost.query('select 1');
  // A lock is held by a connection at rest, for as long as its work takes.
  const resting = await Database.open({ ...settings, databaseUrl: platform.databaseUrl });
  onTestFinished(() => resting.close());
  const holder = await resting.pool.connect();
  const { stream } = (holder as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const silence = once(stream, 'timeout');
  gate.set({ kind: 'hold' });
  const error = await lost.transaction((tx) => tx.query('select 1')).catch((thrown: unknown) => thrown);
  expect(isDatabaseUnavailable(error)).toBe(true);
  gate.set({ kind: 'pass' });
  expect(await lost.query<{ one: number }>('select 1 as one')).toEqual([{ one: 1 }]);
  await silence;
  expect((await holder.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  holder.release();
});

test('a server that takes no writes counts as unavailable, and its connections are not used again', async () => {
  const name = new URL(platform.databaseUrl).pathname.slice(1);
  const operator = await connected(platform.databaseUrl);
  onTestFinished(() => operator.end());
  const own = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
  onTestFinished(() => own.close());
  const write = () => own.transaction((tx) => tx.query(insert, ['written']));
  await operator.query(`alter database "${name}" set default_transaction_read_only = on`);
  const error = await write().catch((failure: unknown) => failure);
  expect(isReadOnly(error) && isDatabaseUnavailable(error)).toBe(true);
  // The next connection leads to a server that takes them.
  await operator.query(`alter database "${name}" reset default_transaction_read_only`);
  expect(await write()).toEqual([{ text: 'written' }]);
});
