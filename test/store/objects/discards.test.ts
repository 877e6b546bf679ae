import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Queryable } from '../../../store/connection/database.ts';
import type { DataSourceRow } from '../../../store/objects/data-sources.ts';
import { PendingObjects } from '../../../store/objects/held-objects.ts';
import type { ObjectStores } from '../../../store/objects/object-stores.ts';

const brokenOff = new Error('The caller hung up.');

/** Counts what is asked of the store and of the database at once. */
function counted() {
  const seen = { now: 0, most: 0, removed: 0 };
  const ask = async <T>(answer: T): Promise<T> => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await nextTurn();
    seen.now -= 1;
    return answer;
  };
  const store = {
    abortUploads: () => ask(undefined),
    delete: async () => {
      await ask(undefined);
      seen.removed += 1;
    },
  };
  const database = { query: () => ask([{ id: 1 }]) } as unknown as Queryable;
  return { seen, pending: new PendingObjects(database, { of: () => store } as unknown as ObjectStores) };
}

test('hundreds of uploads that break off at once are removed a few at a time, and all of them are', async () => {
  const { seen, pending } = counted();
  let isBroken = false;
  const hold = () =>
    pending.hold(
      { objectKey: randomUUID(), dataSource: {} as DataSourceRow },
      async () => {
        while (!isBroken) await nextTurn();
        throw brokenOff;
      },
      () => true,
    );
  const uploads = Array.from({ length: 500 }, hold);
  while (seen.now > 0) await nextTurn();
  seen.most = 0;
  isBroken = true;
  for (const ended of await Promise.allSettled(uploads))
    expect(ended).toEqual({ status: 'rejected', reason: brokenOff });
  expect(seen.removed).toBe(500);
  expect(seen.most).toBeLessThanOrEqual(4);
});
