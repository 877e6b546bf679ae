import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowWorkflowId } from '../../../workflows/contract.ts';
import { type SessionWorld, sessionWorld } from '../../api/sessions/support.ts';
import { eventually } from '../../support/eventually.ts';
import { testEnvironment } from '../../support/stack.ts';
import { stretched } from '../../support/stretched.ts';
import { testWorkflows } from '../../support/workflows.ts';

const platform = await testEnvironment({ ownStack: true });
const temporalSide = await testWorkflows(platform.environment);
const stack = platform.stack!;
let world: SessionWorld;
beforeAll(async () => {
  world = await sessionWorld(platform);
  await temporalSide.startWorker('workflows');
});
afterAll(() => world.api.stop());

const armedForMs = 4_000;
/** How long after its time a close may fall due when a server was away meanwhile. */
const lateMs = 15_000;

test.each<[string, () => Promise<void>]>([
  [
    'PostgreSQL is killed and comes back',
    async () => {
      stack.postgres!.kill('SIGKILL');
      await stack.postgres!.untilReady();
    },
  ],
  [
    'Temporal is killed and comes back',
    async () => {
      stack.temporal!.kill('SIGKILL');
      await stack.temporal!.untilReady();
    },
  ],
  ['Temporal forgets everything', () => stack.temporal!.wipe()],
])('%s while a close is scheduled: it happens exactly once', async (name, fault) => {
  const { body: session } = await world.join({ name, startTimeUtc: new Date().toISOString() });
  const closeAt = new Date(Date.now() + armedForMs).toISOString();
  const close = () =>
    world.call('POST', `/api/v2/session/${session.id}/close`, { closeAt }, world.people.adminToken);
  const first = await close();
  expect(first).toMatchObject({ status: 200, body: { closedAt: closeAt } });
  await eventually('the wait', async () => {
    const { memo } = await temporalSide.operator.workflow.getHandle(windowWorkflowId(session.id)).describe();
    return String(memo?.close).startsWith('falls due');
  });
  await fault();
  const backAtMs = Date.now();
  const endedAt = await eventually('the close falls due', async () => {
    const [row] = await world.query<{ endedAt: Date | null }>(
      'select close_ended_at as ended_at from session where id = $1',
      [session.id],
    );
    return row?.endedAt;
  });
  expect(endedAt.getTime()).toBeGreaterThanOrEqual(Date.parse(closeAt));
  expect(endedAt.getTime() - Math.max(backAtMs, Date.parse(closeAt))).toBeLessThan(stretched(lateMs));
  await eventually('a repeat is answered', async () => (await close()).status === 200);
  expect((await close()).body).toEqual(first.body);
  const next = await world.join({ name, startTimeUtc: new Date().toISOString() });
  expect(next.status).toBe(201);
});

test('while Temporal is down sessions are opened, joined, closed, frozen and deleted, and nothing is left over', async () => {
  await stack.temporal!.stop();
  const opened = await world.join({ name: 'Away', startTimeUtc: new Date().toISOString() });
  const joined = await world.join({
    name: 'Away',
    email: 'm2@example.org',
    startTimeUtc: new Date().toISOString(),
  });
  expect([opened.status, joined.status]).toEqual([201, 200]);
  const id = opened.body.id;
  const by = (method: string, path: string) => world.call(method, path, undefined, world.people.adminToken);
  expect((await by('POST', `/api/v2/sessions/${id}/freeze`)).status).toBe(200);
  expect((await by('POST', `/api/v2/sessions/${id}/unfreeze`)).status).toBe(200);
  expect((await by('POST', `/api/v2/session/${id}/close`)).status).toBe(200);
  const gone = await world.join({ name: 'Gone', startTimeUtc: new Date().toISOString() });
  expect((await by('DELETE', `/api/v2/sessions/${gone.body.id}`)).status).toBe(204);
  expect(await world.query('select 1 from session_ending')).toHaveLength(1);
  await stack.temporal!.start();
  await eventually('the healer has seen to it', async () => {
    const [row] = await world.query<{ left: number }>(
      `select (select count(*) from session_ending)
            + (select count(*) from session where window_dirty_since is not null) as left`,
    );
    return row?.left === 0;
  });
});
