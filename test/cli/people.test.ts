/** People are shown by their names, where the caller may know them. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ask, makePerson } from '../support/api.ts';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const { runSdp } = commandLine();
const { api, people } = await runnerStage();
const title = `Named ${randomUUID()}`;
const lineOf = (out: string, part: string) => out.split('\n').find((line) => line.includes(part)) ?? '';
async function sdp(args: readonly string[], token = people.adminToken): Promise<string> {
  const { code, out, err } = await runSdp(args, { SDP_URL: api.url, SDP_TOKEN: token });
  expect([code, err]).toEqual([0, '']);
  return out;
}

test('the owner of a project, also without an address; by the id where the caller may not know people', async () => {
  const { owner } = JSON.parse(await sdp(['projects', 'create', title, '--json']));
  expect(owner.email).toBe('');
  const shown = async (token: string) =>
    lineOf(await sdp(['projects', 'list'], token), title).split(/ {2,}/)[2];
  expect(await shown(people.adminToken)).toBe('Administrator');
  expect(await shown(people.Developer.token)).toBe('Administrator');
  expect(await shown(people.offlineToken)).toBe(owner.externalPlatformId);
});

test('who did what in the audit, with the id', async () => {
  const { userId, username, token } = await makePerson(api.url, people.adminToken, 'Developer');
  const name = `Developer No ${username.split('-')[1]}`;
  await ask(api.url, 'POST', '/projects', { token, json: { Title: title } });
  const made = await sdp(['audit', '--actor-id', userId, '--action', 'createProject']);
  expect(lineOf(made, 'createProject')).toContain(`user ${name} (${userId})`);
  const accounts = lineOf(await sdp(['audit', '--tokens', '--action', 'createUser']), userId);
  expect(accounts).toContain(`user ${name} (${userId})`);
  expect(accounts).toContain('user Administrator (');
});
