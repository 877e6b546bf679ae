/** What the routes of webhooks refuse. */
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const path = '/api/v2/admin/webhooks';
const admin = (method: string, at: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, at, { token, json });

describe('bad requests change nothing', () => {
  test.each([
    [{}, 'url must be an http or https address.'],
    [{ url: 'ftp://x', events: ['node.failed'] }, 'url must be'],
    [{ url: 'http://u:p@x/', events: ['node.failed'] }, 'url must be'],
    [{ url: `http://x/${'y'.repeat(2_000)}`, events: ['node.failed'] }, 'url holds at most'],
    [{ url: 'http://x/', events: [] }, 'events must name at least one event.'],
    [{ url: 'http://x/', events: ['node.failed', 'node.failed'] }, 'events must name each event once.'],
    [{ url: 'http://x/', events: ['node.exploded'] }, 'An event is one of'],
    [
      { url: 'http://x/', events: ['node.failed'], projectId: 999_999_999 },
      'projectId: there is no such project.',
    ],
    [{ url: 'http://x/', events: ['node.failed'], enabled: 'yes' }, 'enabled must be true or false.'],
  ])('%j', async (json, message) => {
    const answer = await admin('POST', path, json);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
    expect((await admin('GET', path)).body).toEqual([]);
  });

  test('other roles are refused, and unknown webhooks are not found', async () => {
    for (const role of ['Instructor', 'Trainee'] as const)
      expect((await admin('GET', path, undefined, people[role].token)).status).toBe(403);
    for (const [method, at] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries'],
    ] as const) {
      for (const id of ['0197f3aa-0000-7000-8000-000000000001', 'nonsense']) {
        const answer = await admin(method, `${path}/${id}${at}`, method === 'PUT' ? {} : undefined);
        expect(answer).toMatchObject({ status: 404, body: { message: 'Webhook not found.' } });
      }
    }
  });
});
