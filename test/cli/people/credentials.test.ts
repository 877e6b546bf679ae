/** The file of sign-ins, which several commands use at once, without a platform. */
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  credentialsFile,
  readCredentials,
  remember,
  renewTokens,
  type SignedIn,
} from '../../../cli/credentials.ts';

const [here, elsewhere] = ['http://here', 'http://elsewhere'];
const signedIn = (accessToken: string, refreshToken: string | null = `r-${accessToken}`): SignedIn => ({
  username: 'admin',
  accessToken,
  expiresAt: '2026-01-01T00:00:00.000Z',
  refreshToken,
  refreshExpiresAt: null,
});

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-credentials-'));
  vi.stubEnv('XDG_CONFIG_HOME', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  await remember(elsewhere, signedIn('other'));
  await remember(here, signedIn('old'));
});

test('sign-ins at several platforms stand beside each other, in a file of the owner alone', async () => {
  expect(statSync(credentialsFile()).mode & 0o777).toBe(0o600);
  expect((await readCredentials()).current).toBe(here);
  await remember(elsewhere, undefined);
  expect(await readCredentials()).toEqual({ current: here, platforms: { [here]: signedIn('old') } });
  await remember(here, undefined);
  expect(await readCredentials()).toEqual({ current: null, platforms: {} });
});

test('a refresh token is used once: a command that waited uses the tokens that another one got', async () => {
  const asked: string[] = [];
  const renew = () =>
    renewTokens(here, signedIn('old'), async (refreshToken) => {
      asked.push(refreshToken);
      return signedIn('new');
    });
  expect(await Promise.all([renew(), renew()])).toEqual([signedIn('new'), signedIn('new')]);
  expect(asked).toEqual(['r-old']);
  expect((await readCredentials()).platforms[elsewhere]).toEqual(signedIn('other'));
});

test('a renewal that is refused, or for which there is no refresh token, leaves the file as it is', async () => {
  const before = readFileSync(credentialsFile(), 'utf8');
  expect(await renewTokens(here, signedIn('old'), async () => undefined)).toBeUndefined();
  expect(readFileSync(credentialsFile(), 'utf8')).toBe(before);
  await remember(here, signedIn('old', null));
  const never = () => expect.unreachable('there is nothing to renew it with');
  expect(await renewTokens(here, signedIn('old', null), never)).toBeUndefined();
});

test('the lock of a command on another machine counts until it is older than any request', async () => {
  const lock = `${credentialsFile()}.lock`;
  // Process 1 is at work on every machine.
  writeFileSync(lock, '1 another-machine');
  let isOver = false;
  const waiting = remember(here, signedIn('new')).finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isOver).toBe(false);
  const minutesAgo = new Date(Date.now() - 120_000);
  utimesSync(lock, minutesAgo, minutesAgo);
  await waiting;
  expect((await readCredentials()).platforms[here]).toEqual(signedIn('new'));
});

test('a file that cannot be read is named', async () => {
  writeFileSync(credentialsFile(), 'null');
  await expect(readCredentials()).rejects.toThrow(
    /credentials\.json cannot be read: it holds no JSON object/,
  );
});
