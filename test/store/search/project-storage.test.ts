import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { advisoryLocks } from '../../../store/connection/advisory-locks.ts';
import { measureStorage, projectStorage } from '../../../store/search/project-storage.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, makeGraph, upload } from '../../support/graph.ts';

const { database } = await databaseStage(4);

/** As a platform with too many sessions to add up for each read has it. */
const kept = () => projectStorage(database, undefined, 0);
const addedUp = () => projectStorage(database, undefined);

async function session() {
  const graph = await makeGraph(database, chain(0));
  const [row] = await database.query<{ projectId: number }>('select project_id from session where id = $1', [
    graph.sessionId,
  ]);
  return { graph, projectId: row!.projectId };
}
const bytesOf = async (reading: ReturnType<typeof kept>, projectId: number) =>
  (await reading).projects.find((one) => one.projectId === projectId)?.outputBytes;

test('few sessions are added up for each read, many are read from the last sum, which tells its time', async () => {
  const { graph, projectId } = await session();
  await upload(database, graph, 'input');
  const first = await kept();
  expect(first).toMatchObject({ isOld: false, projects: (await addedUp()).projects });
  const before = await bytesOf(kept(), projectId);
  await upload(database, graph, 'input');
  expect(await bytesOf(addedUp(), projectId)).toBeGreaterThan(before!);
  expect([await bytesOf(kept(), projectId), (await kept()).measuredAt]).toEqual([before, first.measuredAt]);
  await measureStorage(database, 0);
  const again = await kept();
  expect(again.measuredAt.getTime()).toBeGreaterThan(first.measuredAt.getTime());
  expect(again.projects).toEqual((await addedUp()).projects);
  expect(await projectStorage(database, projectId, 0)).toMatchObject({ projects: [{ projectId }] });
});

test('a sum grows old by what it cost: after 15 seconds, or twenty times as long as it took', async () => {
  await measureStorage(database, 0);
  const aged = async (ageSeconds: number, tookSeconds: number) => {
    await database.query(
      `update project_storage set measured_at = clock_timestamp() - make_interval(secs => $1), measured_seconds = $2`,
      [ageSeconds, tookSeconds],
    );
    return (await kept()).isOld;
  };
  expect([await aged(10, 0.01), await aged(20, 0.01), await aged(20, 4), await aged(90, 4)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test('a project that was made since is listed without sessions, and a deleted one is not', async () => {
  await measureStorage(database, 0);
  const [made] = await database.query<{ id: number }>(
    `insert into project (hex_id, title, owner_id)
     select $1, 'New', min(owner_id) from project returning id`,
    [randomUUID().replaceAll('-', '').slice(0, 16)],
  );
  const seen = async () => (await kept()).projects.find(({ projectId }) => projectId === made!.id);
  expect(await seen()).toMatchObject({ sessions: 0, outputBytes: 0, newestSessionAt: null });
  await measureStorage(database, 0);
  await database.query('delete from project where id = $1', [made!.id]);
  expect(await seen()).toBeUndefined();
});

test('one process adds up at a time; where it is the first time, a reader does not wait for it', async () => {
  await database.query('delete from project_storage');
  const client = await database.pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.projectStorage]);
    expect((await kept()).projects).toEqual((await addedUp()).projects);
    expect(await database.query('select 1 from project_storage')).toEqual([]);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [advisoryLocks.projectStorage]);
    client.release();
  }
});
