import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;

const get = (path: string, token: string) => ask(api.url, 'GET', path, { token });

test('the activity of a session says who did what, by name, newest first and page by page', async () => {
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  const path = `/api/v2/session/${graph.sessionId}/activity`;
  await stage.upload(graph, 'input', 'abc');
  for (const action of ['freeze', 'unfreeze']) {
    await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/${action}`, {
      token: people.Instructor.token,
    });
  }
  const { status, body } = await get(path, people.Developer.token);
  expect(status).toBe(200);
  const actions = body.entries.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['unfreezeSession', 'freezeSession', 'uploadNodeOutput']);
  expect(body.nextCursor).toBeNull();
  expect(body.entries[0].actor).toMatchObject({ kind: 'user', id: people.Instructor.userId });
  expect(body.entries[0].actor.name).toMatch(/\w/);
  expect(body.entries[2].object).toEqual({ type: 'nodeInstance', id: String(graph.nodes.input) });
  expect(JSON.stringify(body)).not.toContain('network');

  const first = await get(`${path}?limit=2`, people.Developer.token);
  const second = await get(`${path}?limit=2&cursor=${first.body.nextCursor}`, people.Developer.token);
  expect([...first.body.entries, ...second.body.entries]).toEqual(body.entries);
});

test('the activity is not shown to Trainees, and an unknown session is 404', async () => {
  const graph = await stage.chainOf(1);
  const path = (id: string) => `/api/v2/session/${id}/activity`;
  expect((await get(path(graph.sessionId), people.Trainee.token)).status).toBe(403);
  expect((await get(path(randomUUID()), people.Developer.token)).status).toBe(404);
  expect((await get(path('1'), people.Developer.token)).status).toBe(404);
  expect((await get(`${path(graph.sessionId)}?cursor=x`, people.Developer.token)).status).toBe(400);
});
