/** People are shown by their names, where the caller may know them. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ask, makePerson } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { commandLine } from '../support.ts';

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

test('a password that must be changed is changed by its owner', async () => {
  const username = `fresh-${randomUUID().slice(0, 8)}`;
  const create = ['users', 'create', username, '--role', 'Instructor', '--password-stdin'];
  const asAdmin = { SDP_URL: api.url, SDP_TOKEN: people.adminToken };
  await runSdp([...create, '--must-change-password'], asAdmin, 'the first password\n');
  const own = (args: readonly string[], input = '') => runSdp(args, { SDP_URL: api.url }, input);
  const signedIn = await own(['login', '--username', username, '--password-stdin'], 'the first password\n');
  expect(signedIn.out).toContain('The password must be changed before anything else: `sdp password`.');
  const looked = await own(['doctor']);
  expect([looked.code, looked.out]).toEqual([1, expect.stringMatching(/sign-in +wrong .*must be changed/)]);
  const change = (lines: string) => own(['password', '--password-stdin'], lines);
  expect((await change('the second password\n')).err).toContain('must have 2 lines');
  expect((await change('not the first one\nthe second password\n')).code).toBe(1);
  expect((await change('the first password\nthe second password\n')).out).toBe(
    `The password of ${username} is changed.\n`,
  );
  expect((await own(['sessions', 'list'])).code).toBe(0);
});
