import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, startTestApi, type TestApi, untilServed } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { at, routesOfSessions, type SessionWorld, sessionWorld, windowStart } from './support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
/** A second API process, as the database sees it: its own connections, its own queues. */
let second: TestApi;
beforeAll(async () => {
  world = await sessionWorld(platform);
  second = await startTestApi(platform.environment, { routes: routesOfSessions });
});
afterAll(async () => {
  await world.api.stop();
  await second.stop();
});

interface Ask {
  readonly name: string;
  readonly email?: string;
  readonly startTimeUtc?: string;
  readonly timeWindowSeconds?: number;
}
/** Joins by one API process or the other. */
async function join(fields: Ask, place: number) {
  const url = place % 2 === 0 ? world.api.url : second.url;
  return await untilServed(() =>
    ask(url, 'POST', `/api/v2/session/shared_session?projectId=${world.projectId}`, {
      token: world.people.offlineToken,
      json: {
        simulationName: 'sim',
        email: 'machine@example.org',
        sessionTemplateId: world.templateId,
        startTimeUtc: windowStart,
        machineGroup: 1,
        ...fields,
      },
    }),
  );
}

const close = (id: string, place = 0) =>
  ask(place % 2 === 0 ? world.api.url : second.url, 'POST', `/api/v2/session/${id}/close`, {
    token: world.people.adminToken,
  });

/** No two open shared sessions of one key overlap, and no person is a participant twice or after the close. */
async function expectSound(): Promise<void> {
  const overlaps = await world.query(
    `select 1 from session a join session b on a.id < b.id
      where a.machine_group is not null and a.closed_at is null and b.closed_at is null
        and (a.name, a.simulation_name, a.project_id, a.session_template_id, a.machine_group, a.window_seconds)
          = (b.name, b.simulation_name, b.project_id, b.session_template_id, b.machine_group, b.window_seconds)
        and a.window_start_at < b.window_end_at and b.window_start_at < a.window_end_at`,
  );
  expect(overlaps).toEqual([]);
  const late = await world.query(
    `select s.id from session s where s.machine_group is not null and s.closed_at is not null
        and s.closed_participants <> (select count(*) from session_participant p where p.session_id = s.id)`,
  );
  expect(late).toEqual([]);
}

test('100 machines that join one exercise at once, at two API processes, get one session with all of them', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `Hundred ${round}`;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, place) => join({ name, email: `m${place}@example.org` }, place)),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(99);
    const ids = new Set(answers.map((answer) => answer.body.id));
    expect(ids.size).toBe(1);
    const { body } = await world.call('GET', `/api/v2/sessions/${[...ids][0]}`);
    const participants = body.metadata.participants.map((participant: { id: string }) => participant.id);
    expect(participants).toHaveLength(100);
    expect(new Set(participants)).toEqual(
      new Set(Array.from({ length: 100 }, (_, place) => world.keyOf(`m${place}@example.org`))),
    );
    expect(body.sessionUsers).toHaveLength(101);
  }
  await expectSound();
});

test('joins and closes at once: everybody is in a session that was open for them', async () => {
  const name = 'Joins and closes';
  const opened = await join({ name }, 0);
  const ids = [opened.body.id];
  await Promise.all(
    Array.from({ length: 120 }, async (_, place) => {
      if (place % 10 === 9) {
        expect((await close(ids.at(-1)!, place)).status).toBe(200);
        return;
      }
      const email = `m${place}@example.org`;
      const { status, body } = await join({ name, email }, place);
      expect([200, 201]).toContain(status);
      if (status === 201) ids.push(body.id);
      expect(body.metadata.participants.map((participant: { id: string }) => participant.id)).toContain(
        world.keyOf(email),
      );
    }),
  );
  await expectSound();
});

test('renaming sessions into one key while others join it ends in one open session', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `Renamed ${round}`;
    const others = await Promise.all([1, 2, 3].map((place) => join({ name: `${name} ${place}` }, place)));
    const answers = await Promise.all([
      ...others.map(({ body }) =>
        untilServed(() => world.call('PATCH', `/api/v2/sessions/${body.id}`, { name })),
      ),
      ...Array.from({ length: 6 }, (_, place) => join({ name, email: `m${place}@example.org` }, place)),
    ]);
    for (const { status } of answers) expect([200, 201, 400]).toContain(status);
    const open = await world.query('select 1 from session where name = $1 and closed_at is null', [name]);
    expect(open).toHaveLength(1);
  }
  await expectSound();
});

interface Modelled {
  readonly id: string;
  readonly key: string;
  readonly start: number;
  readonly seconds: number;
  open: boolean;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('join' as const),
      start: fc.integer({ min: -6, max: 6 }),
      seconds: fc.constantFrom(2, 3),
      machineGroup: fc.constantFrom(1, 2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), which: fc.nat(20) }) },
);

test('any order of joins and closes goes by the matching rules, step by step', async () => {
  let exercise = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      exercise += 1;
      const name = `Property ${exercise}`;
      const sessions: Modelled[] = [];
      for (const one of steps) {
        if (one.kind === 'close') {
          const target = sessions[one.which % Math.max(1, sessions.length)];
          if (target === undefined) continue;
          expect((await close(target.id)).status).toBe(200);
          target.open = false;
          continue;
        }
        const { start, seconds, machineGroup } = one;
        const key = `${seconds}/${machineGroup}`;
        const match = sessions.findLast(
          (session) =>
            session.open &&
            session.key === key &&
            session.start < start + seconds &&
            start < session.start + seconds,
        );
        const asked = { name, startTimeUtc: at(start), timeWindowSeconds: seconds, machineGroup };
        const { status, body } = await join(asked, start + 6);
        expect([status, match?.id ?? body.id]).toEqual([match ? 200 : 201, body.id]);
        if (!match) sessions.push({ id: body.id, key, start, seconds, open: true });
      }
    }),
    { numRuns: 25 },
  );
  await expectSound();
});

test('any joins and closes at the same time leave no two open sessions that overlap', async () => {
  let exercise = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 20 }), async (steps) => {
      exercise += 1;
      const name = `At once ${exercise}`;
      const ids: string[] = [];
      await Promise.all(
        steps.map(async (one, place) => {
          if (one.kind === 'close') {
            const id = ids[one.which % Math.max(1, ids.length)];
            if (id !== undefined) expect((await close(id, place)).status).toBe(200);
            return;
          }
          const { start, seconds, machineGroup } = one;
          const asked = { name, startTimeUtc: at(start), timeWindowSeconds: seconds, machineGroup };
          const { status, body } = await join(asked, place);
          expect([200, 201]).toContain(status);
          ids.push(body.id);
          const stored = (Date.parse(body.metadata.startTimeUtc) - Date.parse(windowStart)) / 1_000;
          expect(Math.abs(stored - start)).toBeLessThan(seconds);
        }),
      );
      await expectSound();
    }),
    { numRuns: 20 },
  );
});

test('the database itself refuses two open sessions of one key that overlap', async () => {
  const { body } = await join({ name: 'Constraint' }, 0);
  const copy = (seconds: number) =>
    world.query(
      `insert into session (id, name, email_identifier, email_key, simulation_name, session_template_id, project_id,
                            user_id, machine_group, window_seconds, window_start_at, window_end_at, opened_by)
       select gen_random_uuid(), name, email_identifier, email_key, simulation_name, session_template_id, project_id,
              user_id, machine_group, window_seconds, window_start_at + make_interval(secs => $2),
              window_end_at + make_interval(secs => $2), opened_by from session where id = $1`,
      [body.id, seconds],
    );
  await expect(copy(299)).rejects.toMatchObject({ code: '23P01' });
  await copy(300);
});
