/** Dashboards of sessions that a device opened: its token resolves nobody, so that the person is held as a key. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Role } from '../../../domain/access/access.ts';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { makeGraph } from '../../support/graph.ts';

const { api, people, platform } = await apiStage();
const database = await openDatabase(platform, 4);

async function titles(role: Role, search: string, userId?: string): Promise<string[]> {
  const user = userId === undefined ? '' : `&userId=${userId}`;
  const path = `/api/v2/dashboard/dimensions?search=${search}${user}`;
  const { status, body } = await ask(api.url, 'GET', path, { token: people[role].token });
  expect(status).toBe(200);
  return body.dimensions.map(({ title }: { title: string }) => title);
}

test('dashboards and reports of a person have what a device opened for their address', async () => {
  const { sessionId, projectId, nodes } = await makeGraph(database, [{ name: 'input', parents: [] }]);
  const [template] = await database.query<{ id: number }>(
    'select session_template_id as id from session where id = $1',
    [sessionId],
  );
  const joined = await ask(api.url, 'POST', `/api/v2/session/shared_session?projectId=${projectId}`, {
    token: people.offlineToken,
    json: {
      name: randomUUID(),
      simulationName: 'sim',
      email: people.Trainee.email,
      sessionTemplateId: template!.id,
      startTimeUtc: '2026-03-01T10:00:00.000Z',
      machineGroup: 1,
    },
  });
  expect(joined.status).toBe(201);
  const title = `device-${randomUUID()}`;
  await database.query(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
     values ($1, $2, $3, 'Recording', 'next')`,
    [joined.body.id, nodes.input, title],
  );
  const { userId } = people.Trainee;
  expect(await titles('Trainee', title)).toEqual([title]);
  for (const role of ['Trainee', 'Instructor'] as const)
    expect(await titles(role, title, userId), role).toEqual([title]);
  for (const other of [people.Developer.userId, randomUUID()])
    expect(await titles('Instructor', title, other)).toEqual([]);
  const columns = [{ columnKey: 'title', name: 'title', expression: 'dimension.title' }];
  const made = { key: `device-${title.slice(-8)}`, name: 'A', columns, dimensionNameFilter: title };
  const path = '/api/v2/dashboard/reports';
  await ask(api.url, 'POST', path, { token: people.Developer.token, json: made });
  for (const [user, lines] of [
    [userId, ['title', title]],
    [people.Developer.userId, ['title']],
  ] as const) {
    const answer = await fetch(`${api.url}${path}/download?format=csv&report=${made.key}&userId=${user}`, {
      headers: { authorization: `Bearer ${people.Instructor.token}` },
    });
    expect((await answer.text()).replace('\ufeff', '').trim().split('\r\n')).toEqual(lines);
  }
});
