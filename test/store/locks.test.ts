/** Advisory locks around work that one process at a time does. */
import { expect, test } from 'vitest';
import { advisoryLocks } from '../../store/connection/advisory-locks.ts';
import { withLock } from '../../store/connection/healer-lock.ts';
import { openDatabase } from '../support/databases.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const one = await openDatabase(platform, 2);
const other = await openDatabase(platform, 2);

test('a lock whose release failed does not outlive its work', async () => {
  one.pool.once('acquire', (client) => {
    const query = client.query.bind(client) as (text: string, values: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      query: (text: string, values: unknown[]) =>
        text.includes('unlock') ? Promise.reject(new Error('It did not answer.')) : query(text, values),
    });
  });
  const done: string[] = [];
  await withLock(one, advisoryLocks.retention, async () => void done.push('one'));
  await expect
    .poll(async () => {
      await withLock(other, advisoryLocks.retention, async () => void done.push('other'));
      return done;
    })
    .toEqual(['one', 'other']);
});
