/** People are shown by their names, where the caller may know them; and the sign-in that commands use. */

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, makePerson } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { commandLine } from '../support.ts';

const { folder, runSdp } = commandLine();
const { api, people, platform } = await runnerStage();
const title = `Named ${randomUUID()}`;
const lineOf = (out: string, part: string) => out.split('\n').find((line) => line.includes(part)) ?? '';
const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
async function printed(args: readonly string[], token = people.adminToken): Promise<string> {
  const { code, out, err } = await sdp(args, { SDP_TOKEN: token });
  expect([code, err]).toEqual([0, '']);
  return out;
}

test('the owner of a project, also without an address; by the id where the caller may not know people', async () => {
  const { owner } = JSON.parse(await printed(['projects', 'create', title, '--json']));
  expect(owner.email).toBe('');
  const shown = async (token: string) =>
    lineOf(await printed(['projects', 'list'], token), title).split(/ {2,}/)[2];
  expect(await shown(people.adminToken)).toBe('Administrator');
  expect(await shown(people.Developer.token)).toBe('Administrator');
  expect(await shown(people.offlineToken)).toBe(owner.externalPlatformId);
});

test('who did what in the audit, with the id', async () => {
  const { userId, username, token } = await makePerson(api.url, people.adminToken, 'Developer');
  const name = `Developer No ${username.split('-')[1]}`;
  await ask(api.url, 'POST', '/projects', { token, json: { Title: title } });
  const made = await printed(['audit', '--actor-id', userId, '--action', 'createProject']);
  expect(lineOf(made, 'createProject')).toContain(`user ${name} (${userId})`);
  const accounts = lineOf(await printed(['audit', '--tokens', '--action', 'createUser']), userId);
  expect(accounts).toContain(`user ${name} (${userId})`);
  expect(accounts).toContain('user Administrator (');
});

test('a password that must be changed is changed by its owner', async () => {
  const username = `fresh-${randomUUID().slice(0, 8)}`;
  const create = ['users', 'create', username, '--role', 'Instructor', '--password-stdin'];
  await sdp([...create, '--must-change-password'], {}, 'the first password\n');
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

const file = join(folder, 'sdp', 'credentials.json');
const { username, password } = platform.administrator;
const nobody = { SDP_TOKEN: '' };

describe('sdp login', () => {
  test('is stored in a file that only its owner can read, and used by later commands until logout', async () => {
    const made = await sdp(['login', '--username', username, '--password-stdin'], nobody, `${password}\n`);
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining(`as ${username} (Administrator)`) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { accessToken } = JSON.parse(readFileSync(file, 'utf8')).platforms[api.url];
    expect(made.out + made.err).not.toContain(accessToken);
    // Without any address: that of the last sign-in.
    expect((await sdp(['projects', 'list'], { ...nobody, SDP_URL: '' })).code).toBe(0);
    expect((await sdp(['logout'], nobody)).out).toBe(`Signed out of ${api.url}.\n`);
    expect(readFileSync(file, 'utf8')).not.toContain(accessToken);
    expect((await sdp(['projects', 'list'], nobody)).code).toBe(1);
    const reused = await sdp(['projects', 'list'], { SDP_TOKEN: accessToken });
    expect(reused.err).toContain('A valid bearer token is required. (401, request ');
  });

  test('is forgotten here by a logout that cannot reach the platform, which says until when it holds there', async () => {
    await sdp(['login', '--username', username, '--password-stdin'], nobody, password);
    const stored = readFileSync(file, 'utf8');
    const away = 'http://127.0.0.1:1';
    writeFileSync(file, stored.replaceAll(api.url, away));
    const { code, err } = await sdp(['logout'], { ...nobody, SDP_URL: away });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:1 does not answer\. The token is deleted here; at the platform the sign-in remains until \d{4}-.*Z\.$/m,
      ),
    ]);
    expect(JSON.parse(readFileSync(file, 'utf8')).platforms).toEqual({});
    // It was over already: nothing is left to end.
    writeFileSync(file, stored.replace(/"accessToken": "[^"]+"/, '"accessToken": "ended"'));
    expect((await sdp(['logout'], nobody)).out).toBe(`Signed out of ${api.url}.\n`);
  });

  test('is not locked out by a command that was killed, whatever the clock says', async () => {
    const lock = `${file}.lock`;
    const killed = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(lock, `${killed.pid} ${hostname()}`);
    const later = new Date(Date.now() + 86_400_000);
    utimesSync(lock, later, later);
    const login = await sdp(['login', '--username', username, '--password-stdin'], nobody, password);
    expect([login.code, login.err]).toEqual([0, '']);
    // One that is at work keeps it, also when the clock was set a day ahead meanwhile.
    writeFileSync(lock, `${process.pid} ${hostname()}`);
    const before = new Date(Date.now() - 86_400_000);
    utimesSync(lock, before, before);
    const waiting = await sdp(['login', '--username', username, '--password-stdin'], nobody, password);
    rmSync(lock);
    expect([waiting.code, waiting.err]).toEqual([
      1,
      expect.stringContaining('If none is running, delete it.'),
    ]);
  }, 60_000);

  test('with a refresh token continues after the token has expired, also in several commands at once', async () => {
    await sdp(['login', '--username', username, '--password-stdin', '--remember'], nobody, password);
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    stored.platforms[api.url].accessToken = 'ended';
    stored.platforms[api.url].expiresAt = '2026-01-01T00:00:00.000Z';
    writeFileSync(file, JSON.stringify(stored));
    const ended = await Promise.all([1, 2, 3].map(() => sdp(['projects', 'list'], nobody)));
    expect(ended.map(({ code, err }) => [code, err])).toEqual(Array(3).fill([0, '']));
    expect((await sdp(['logout'], nobody)).code).toBe(0);
  });

  test('renewed by a command for one platform leaves the platform of the last sign-in as it is', async () => {
    await sdp(['login', '--username', username, '--password-stdin', '--remember'], nobody, password);
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    const other = 'http://platform.invalid';
    stored.platforms[other] = { ...stored.platforms[api.url] };
    stored.platforms[api.url].expiresAt = '2026-01-01T00:00:00.000Z';
    writeFileSync(file, JSON.stringify({ ...stored, current: other }));
    expect((await sdp(['projects', 'list'], nobody)).code).toBe(0);
    const { current, platforms } = JSON.parse(readFileSync(file, 'utf8'));
    expect(current).toBe(other);
    expect(platforms[api.url].accessToken).not.toBe(stored.platforms[api.url].accessToken);
    expect((await sdp(['logout'], nobody)).code).toBe(0);
    writeFileSync(file, '{}');
  });

  test('uses a token that has expired by the clock of this machine alone', async () => {
    await sdp(['login', '--username', username, '--password-stdin'], nobody, password);
    const past = '"expiresAt": "2026-01-01T00:00:00.000Z"';
    const stored = readFileSync(file, 'utf8').replace(/"expiresAt": "[^"]+"/, past);
    writeFileSync(file, stored);
    expect((await sdp(['projects', 'list'], nobody)).code).toBe(0);
    writeFileSync(file, stored.replace(/"accessToken": "[^"]+"/, '"accessToken": "ended"'));
    expect((await sdp(['projects', 'list'], nobody)).err).toContain('The sign-in of admin has expired.');
  });

  test('that was ended elsewhere says so, and so does a token of the environment', async () => {
    await sdp(['login', '--username', username, '--password-stdin'], nobody, password);
    const ended = readFileSync(file, 'utf8').replace(/"accessToken": "[^"]+"/, '"accessToken": "ended"');
    writeFileSync(file, ended);
    const stored = await sdp(['projects', 'list'], { SDP_TOKEN: ' ' });
    expect(stored.err).toMatch(
      /\(401, request .+\)\nThe sign-in has ended\. Sign in again with `sdp login`\.\n$/,
    );
    const given = await sdp(['projects', 'list'], { ...nobody, SDP_TOKEN: 'ended' });
    expect(given.err).toMatch(/\nThe token of SDP_TOKEN has expired, was revoked, or is not complete\.\n$/);
  });

  test('reports a wrong password, and a missing terminal', async () => {
    const wrong = await sdp(['login', '--username', username, '--password-stdin'], nobody, 'wrong');
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('Invalid username or password.')]);
    expect((await sdp(['login', '--username', username], nobody)).code).toBe(2);
  });
});
