import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { authWorld } from './support.ts';

// One proxy is in front and appends the peer that it saw to X-Forwarded-For.
const world = await authWorld({ TRUSTED_PROXIES: '1' });
const { auth, database, newPerson } = world;
const perName = limits.signInFailuresPerUsernameAndAddress;
const perAddress = limits.signInFailuresPerAddress;

beforeEach(async () => {
  await database.query('delete from auth.sign_in_failures');
});

/** A sign-in as the proxy passes it on; `forwarded` ends with the address that the proxy saw. */
const signIn = (username: string, password: string, forwarded: string) =>
  auth('POST', '/token', { json: { username, password }, headers: { 'x-forwarded-for': forwarded } });

/** The statuses of so many wrong guesses. */
async function guess(username: string, forwarded: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1)
    statuses.push((await signIn(username, 'a wrong password', forwarded)).status);
  return statuses;
}

/** As if the service had counted so many failures from there already; hashing as many passwords is slow. */
async function countedBefore(times: number): Promise<void> {
  await database.query('update auth.sign_in_failures set failures = $1', [times]);
}

describe('guesses behind a trusted proxy', () => {
  test('are counted for the address that the proxy saw, and lock out no other address', async () => {
    const { username, password } = await newPerson();
    expect(await guess(username, '203.0.113.7', perName)).toEqual(Array(perName).fill(401));
    const refused = await signIn(username, password, '203.0.113.7');
    expect(refused.status).toBe(200);
    await guess(username, '203.0.113.7', perName + 1);
    const locked = await signIn(username, password, '203.0.113.7');
    expect([locked.status, locked.body]).toEqual([
      429,
      { status: 'error', message: 'Too many attempts. Try again later.' },
    ]);
    const seconds = Number(locked.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(limits.signInFailureWindowSeconds);
    expect((await signIn(username, password, '203.0.113.8')).status).toBe(200);
  });

  test('cannot be spread over forged addresses', async () => {
    const { username, password } = await newPerson();
    for (let time = 0; time <= perName; time += 1)
      await signIn(username, 'a wrong password', `198.51.100.${time}, 10.0.0.${time}, 203.0.113.9`);
    expect((await signIn(username, password, '198.51.100.77, 203.0.113.9')).status).toBe(429);
  });

  test('of many names from one address are counted together, and do not affect other addresses', async () => {
    const { username, password } = await newPerson();
    await guess('somebody', '203.0.113.10', 1);
    await countedBefore(perAddress - 1);
    expect(await guess('somebody-else', '203.0.113.10', 1)).toEqual([401]);
    expect((await guess('another', '203.0.113.10', 1))[0]).toBe(429);
    const locked = await signIn(username, password, '203.0.113.10');
    expect([locked.status, Number(locked.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await signIn(username, password, '203.0.113.11')).status).toBe(200);
  });

  test('from one IPv6 network count as one address, since its holder has all of it', async () => {
    const { username, password } = await newPerson();
    for (let host = 0; host <= perName; host += 1)
      await signIn(username, 'a wrong password', `2001:db8:1:2::${host.toString(16)}`);
    expect((await signIn(username, password, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await signIn(username, password, '2001:db8:1:3::1')).status).toBe(200);
  });

  test('are forgotten when the window is over, and by a sign-in that succeeds', async () => {
    const { username, password } = await newPerson();
    await guess(username, '203.0.113.12', perName + 1);
    await database.query("update auth.sign_in_failures set window_ends_at = now() - interval '1 second'");
    expect((await signIn(username, password, '203.0.113.12')).status).toBe(200);
    await guess(username, '203.0.113.12', perName);
    expect((await signIn(username, password, '203.0.113.12')).status).toBe(200);
    expect(await guess(username, '203.0.113.12', perName)).toEqual(Array(perName).fill(401));
  });

  test('for one name are limited in any spelling, also when all arrive at once', async () => {
    const { username } = await newPerson();
    const spellings = [username, username.toUpperCase(), ` ${username} `];
    const statuses = await Promise.all(
      Array.from({ length: perName * 3 }, (_, index) =>
        signIn(spellings[index % 3] ?? '', 'a wrong password', '203.0.113.13').then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(perName + 1);
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  });

  const changing = (person: Awaited<ReturnType<typeof newPerson>>, forwarded: string) => (guess: string) =>
    auth('POST', `/users/${person.userId}/password`, {
      token: person.token,
      json: { currentPassword: guess, newPassword: 'another good password' },
      headers: { 'x-forwarded-for': forwarded },
    });

  test('at the present password in its change are counted for the same address', async () => {
    const person = await newPerson();
    const change = changing(person, '203.0.113.14');
    for (let time = 0; time <= perName; time += 1) await change('a wrong password');
    const locked = await change('a wrong password');
    expect([locked.status, Number(locked.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await changing(person, '203.0.113.15')('a wrong password')).status).toBe(400);
  });

  test('at the present password are refused beyond the limit, the right one too, also when all arrive at once', async () => {
    const person = await newPerson();
    const change = changing(person, '203.0.113.17');
    const wrong = Array.from({ length: perName * 4 }, () => change('a wrong password'));
    expect((await change(person.password)).status).toBe(429);
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 400 && status !== 429)).toEqual([]);
    expect((await signIn(person.username, person.password, '203.0.113.18')).status).toBe(200);
  });

  test('leave no username, address or password in the table that counts them', async () => {
    await guess('somebody-to-guess', '203.0.113.16', 1);
    const { rows } = await database.query(
      'select f::text as row, encode(key, $1) as text from auth.sign_in_failures f',
      ['escape'],
    );
    expect(rows.length).toBe(2);
    expect(JSON.stringify(rows)).not.toMatch(/somebody|203\.0|wrong/);
  });
});
