/** When the authentication service is asked about the creators of runner tokens. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AuthClient } from '../../../api/identity/auth-client.ts';
import { TokenCreators } from '../../../api/runner-tokens/creators.ts';
import { createRunnerToken } from '../../../store/runners/runner-tokens.ts';
import { databaseStage } from '../../support/databases.ts';

const { database } = await databaseStage(4);

/** A creator of a token who was last checked a minute ago, and a process that asks a service which answers or does not. */
async function creator() {
  const userId = randomUUID();
  const state = { userId, role: 'Developer', tokensRevokedAt: null } as const;
  const token = {
    ...{ digest: Buffer.from(userId), hint: 'hint', label: '', runnerTypes: [], ttlHours: 1 },
    scopes: ['tasks'] as const,
  };
  await createRunnerToken(database, token, state, new Date());
  await database.query(
    `update runner_token_creator set (checked_at, asked_at) = (select at, at from (select now() - interval '1 minute') o (at))
      where user_id = $1`,
    [userId],
  );
  const service = { answers: true, questions: 0 };
  const findActive = async (userIds: readonly string[]) => {
    if (userIds.includes(userId)) service.questions += 1;
    if (!service.answers) throw new Error('The service does not answer.');
    return userIds.map((id) => ({ ...state, userId: id }));
  };
  const auth = { findActive } as unknown as AuthClient;
  const creators = new TokenCreators({ database, auth, log: pino({ enabled: false }) }, () => undefined);
  return { userId, service, creators };
}

test('a round that got no answer is repeated by the next one', async () => {
  const { service, creators } = await creator();
  service.answers = false;
  await expect(creators.askDue()).rejects.toThrow('does not answer');
  service.answers = true;
  await creators.askDue();
  expect(service.questions).toBe(2);
  await creators.askDue();
  expect(service.questions).toBe(2);
});

test('simultaneous calls share a question, and one without an answer is followed by a pause', async () => {
  const { userId, service, creators } = await creator();
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  onTestFinished(() => now.mockRestore());
  service.answers = false;
  await Promise.all(Array.from({ length: 5 }, () => creators.askNow(userId)));
  now.mockReturnValue(1_999);
  await creators.askNow(userId);
  expect(service.questions).toBe(1);
  now.mockReturnValue(2_000);
  await creators.askNow(userId);
  expect(service.questions).toBe(2);
});
