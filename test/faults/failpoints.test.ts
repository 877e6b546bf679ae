/**
 * Every gap between two stores, with every action: a process crashes there, fails there, or waits there. A caller that
 * repeats the unanswered call loses nothing and gets nothing twice.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../local/ports.ts';
import { checkout } from '../../local/settings.ts';
import { type Failpoint, failActions, failpoints } from '../../store/connection/failpoint.ts';
import { eventually } from '../support/eventually.ts';
import type { TestProcess } from '../support/processes.ts';
import {
  deletion,
  exercise,
  type FailpointWorld,
  keyedSession,
  managedIngest,
  queuedUploads,
  resumableUpload,
  task,
  uploads,
} from './failpoint-calls.ts';
import { expectOnlyReferredObjects, faultWorld } from './fault-world.ts';
import { retriesNow } from './retries-now.ts';
import { isQuiet, wrongFacts } from './soak/soak-checks.ts';

const points = Object.keys(failpoints) as Failpoint[];
const folder = mkdtempSync(join(tmpdir(), 'sdp-failpoints-'));
const callRounds = 3;
const variables = { FAILPOINT_DIR: folder };
const faulty = await faultWorld();
const { platform, processes, database } = faulty;
let world: FailpointWorld;
let isOver = false;
const ends: (number | NodeJS.Signals)[] = [];

/** Started again whenever it dies. */
async function kept<Process extends TestProcess>(start: () => Promise<Process>): Promise<Process> {
  const process = await start();
  void (async () => {
    for (
      let running: TestProcess | undefined = process;
      !isOver;
      running = await start().catch(() => undefined)
    )
      if (running !== undefined) ends.push(await running.ended);
  })();
  return process;
}

beforeAll(async () => {
  const port = await freePort();
  const [api] = await Promise.all([
    kept(() => processes.startApi({ variables, port })),
    kept(() => processes.startWorker('workflows', { variables })),
  ]);
  world = { ...faulty, url: api.url };
});
afterAll(() => {
  isOver = true;
  rmSync(folder, { recursive: true, force: true });
});

/** By a process that may die. */
async function sweep(): Promise<void> {
  await processes.startScript('test/faults/sweep-once.ts', variables).ended;
}

/** Work that is not finished. */
function openWork() {
  return database.query(
    `select n.name, r.state, r.reason, r.attempt, n.follow_up_wanted, n.reprocess_wanted, s.desired_version, s.observed_version
       from session s join node_instance n on n.session_id = s.id
       left join node_run r on r.node_instance_id = n.id and r.state <> 'done'
      where r.id is not null or n.follow_up_wanted or n.reprocess_wanted or s.desired_version <> s.observed_version`,
  );
}

const armed = () => points.filter((point) => existsSync(join(folder, point)));

test.each(failActions)(
  '%s at every failpoint loses nothing and doubles nothing',
  {
    timeout: 1_500_000,
  },
  async (action) => {
    for (const point of points) writeFileSync(join(folder, point), action);
    // A process that dies at one point may have passed another without having reached it.
    for (let round = 0; round < callRounds && armed().length > 0; round += 1)
      await Promise.all([
        uploads(world),
        resumableUpload(world),
        queuedUploads(world, () => !armed().includes('ingest-packed')),
        managedIngest(world),
        keyedSession(world),
        task(world),
        exercise(world),
        deletion(world, sweep),
      ]);
    // A failpoint that was armed and not met by now is on the path of no call.
    await eventually('every failpoint was reached', () => armed().length === 0).catch((error: Error) => {
      throw new Error(`${error.message}: ${armed()}`);
    });
    await eventually(
      'all is at rest',
      async () => {
        await retriesNow(database);
        return await isQuiet(database);
      },
      60_000,
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await openWork())}`);
    });
    expect(await wrongFacts(database, false)).toEqual([]);
    await expectOnlyReferredObjects(platform, database);
    expect(ends.filter((end) => end !== 'SIGKILL')).toEqual([]);
  },
);

test('the list holds every failpoint of the sources, and no other', () => {
  const used = ['activities', 'api', 'auth', 'http', 'store', 'worker', 'workflows'].flatMap((name) =>
    readdirSync(join(checkout, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [
        ...readFileSync(join(checkout, name, file), 'utf8').matchAll(/await failpoint\('([a-z-]+)'\)/g),
      ])
      .map(([, point]) => point),
  );
  expect(new Set(used)).toEqual(new Set(points));
});
