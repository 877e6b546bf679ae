import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { isDatabaseAway } from '../../../domain/network/database-fault.ts';
import { toProblem } from '../../../http/errors.ts';
import { Database, type Tx } from '../../../store/connection/database.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const poolSize = 2;

/** More often than the pool has connections: one that is not released would be missing. */
async function often(database: Database, broken: () => Promise<unknown>): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (let time = 0; time < 2 * poolSize; time++)
    await broken().catch((error: unknown) => errors.push(error));
  expect(errors).toHaveLength(2 * poolSize);
  expect(await database.transaction((tx) => tx.query('select 1 as one'))).toEqual([{ one: 1 }]);
  return errors;
}

/** By plain statements, and by those of the entity manager. */
const kinds = {
  statements: (tx: Tx, text: string) => tx.query(text),
  entities: (tx: Tx, text: string) => tx.em.execute(text),
};
const all = Object.entries(kinds);

test.for(all)(
  '%s: a connection that breaks inside is released, so that the pool is never exhausted',
  async ([, run]) => {
    const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize });
    const errors = await often(database, () =>
      database.transaction(async (tx) => {
        await run(tx, 'select pg_terminate_backend(pg_backend_pid())');
      }),
    );
    expect(errors.map(isDatabaseAway)).toEqual(errors.map(() => true));
    await database.close();
  },
);

test.for(all)('%s: so is one whose work fails', async ([, run]) => {
  const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize });
  const errors = await often(database, () =>
    database.transaction(async (tx) => {
      await run(tx, 'select 1');
      throw new Error('refused');
    }),
  );
  expect(errors).toEqual(errors.map(() => new Error('refused')));
  expect(errors.map(isDatabaseAway)).toEqual(errors.map(() => false));
  await database.close();
});

test.for(all)(
  '%s: the first error is reported, also when the connection is lost by then',
  async ([, run]) => {
    const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize });
    const errors = await often(database, () =>
      database.transaction(async (tx) => {
        await run(tx, 'select pg_terminate_backend(pg_backend_pid())').catch(() => {});
        throw new Error('refused');
      }),
    );
    expect(errors).toEqual(errors.map(() => new Error('refused')));
    await database.close();
  },
);

const hasPrlimit = spawnSync('prlimit', ['--pid', String(process.pid)], { stdio: 'ignore' }).status === 0;

/** Opens files up to the limit of this process; the returned function closes them. */
function useAllDescriptors(): () => void {
  const limit = (files: string) =>
    spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${files}:`], { stdio: 'ignore' });
  limit(String(readdirSync('/proc/self/fd').length + 20));
  const files: number[] = [];
  try {
    for (;;) files.push(openSync('/dev/null', 'r'));
  } catch {
    // That was the last.
  }
  return () => {
    for (const file of files.splice(0)) closeSync(file);
    limit('4096');
  };
}

test.runIf(hasPrlimit)(
  'without file descriptors for a connection the database counts as unavailable: 503',
  async () => {
    const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize });
    onTestFinished(() => database.close());
    const restore = useAllDescriptors();
    onTestFinished(restore);
    const all = Array.from({ length: poolSize }, () => database.query('select pg_sleep(0.1)'));
    const errors = (await Promise.allSettled(all)).flatMap((one) =>
      one.status === 'rejected' ? [one.reason] : [],
    );
    restore();
    expect(errors.map(({ code }) => code)).toContain('EMFILE');
    expect(errors.map((error) => toProblem(error).status)).toEqual(errors.map(() => 503));
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  },
);
