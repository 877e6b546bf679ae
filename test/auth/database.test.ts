import { expect, test } from 'vitest';
import { AuthDatabase } from '../../auth/database.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();

test('a connection that breaks in the middle of a transaction fails that transaction, not the process', async () => {
  const database = new AuthDatabase(platform.databaseUrl);
  for (let time = 0; time < 10; time++) {
    const broken = database.transaction((tx) =>
      tx.query({ name: 'end_self', text: 'select pg_terminate_backend(pg_backend_pid())' }, []),
    );
    await expect(broken).rejects.toThrow();
  }
  expect(await database.query({ name: 'one', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
  await database.close();
});
