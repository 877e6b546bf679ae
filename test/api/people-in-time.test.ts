import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AuthClient, Principal } from '../../api/identity/auth-client.ts';
import { People } from '../../api/identity/participants.ts';
import { limits } from '../../domain/limits.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const callMs = limits.authCallSeconds * 1000 - 1;
let questions = 0;
/** Answers each request at the last moment. */
const slow = async () => {
  questions += 1;
  vi.advanceTimersByTime(callMs);
  return null;
};
const people = () =>
  new People({
    auth: { resolveEmail: slow, findPerson: slow } as unknown as AuthClient,
    principal: { kind: 'access', userId: 'me', email: 'me@example.org', bearer: 'x' } as Principal,
    participantKey: 'k'.repeat(32),
    requestId: 'x',
  });
const id = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

test('a request that names many people is refused in bounded time when each lookup is slow, and no person is guessed', async () => {
  questions = 0;
  const asked = people();
  const results: unknown[] = [];
  for (let index = 0; index < 50; index += 1)
    results.push(await asked.resolve(`person-${index}@example.org`).catch((error) => error.key));
  expect(questions).toBeLessThanOrEqual(Math.ceil((limits.authQuestionsSeconds * 1000) / callMs) + 1);
  expect(results.slice(questions)).toEqual(Array(50 - questions).fill('unavailable'));
});

test('a response that shows many people is sent in bounded time, with identifiers for the rest', async () => {
  questions = 0;
  const asked = people();
  for (let index = 0; index < 50; index += 1) expect(await asked.show(id(index))).toBe(id(index));
  expect(questions).toBeLessThanOrEqual(Math.ceil((limits.authQuestionsSeconds * 1000) / callMs) + 1);
});
