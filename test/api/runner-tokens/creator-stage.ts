/** Creators of runner tokens, and what their tokens are worth. */
import { expect } from 'vitest';
import { ask, makePerson, type TestPerson } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage } from '../../support/runner.ts';
import { newRunnerType, newToken, tokensPath } from './support.ts';

export async function creatorStage() {
  const stage = await runnerStage();
  const { api, people, database, platform } = stage;
  const users = '/api/authorization/users';
  const whoami = (token: string, url = api.url) => ask(url, 'GET', '/api/v2/runner/whoami', { token });

  /** A check is good for a second. */
  const becomes = (status: number, token: string, url = api.url) =>
    eventually(`the token gets ${status}`, async () => (await whoami(token, url)).status === status);

  const change = (person: TestPerson, json: object) =>
    ask(api.url, 'PATCH', `${users}/${person.userId}`, { token: people.adminToken, json });

  /** Makes the last check of the creator old, so that the next round checks again. */
  async function makeDue(person: TestPerson): Promise<void> {
    await database.query(
      `update runner_token_creator set asked_at = now() - interval '1 minute' where user_id = $1`,
      [person.userId],
    );
  }

  /** Resolves when the service was asked about the creator after this call. */
  async function asked(person: TestPerson): Promise<void> {
    const checkedAt = async () => {
      const [row] = await database.query<{ at: Date }>(
        'select checked_at as at from runner_token_creator where user_id = $1',
        [person.userId],
      );
      return row!.at.getTime();
    };
    const before = await checkedAt();
    await makeDue(person);
    await eventually('somebody asks', async () => (await checkedAt()) > before);
  }

  async function creator(role: 'Administrator' | 'Developer' = 'Developer') {
    const person = await makePerson(api.url, people.adminToken, role);
    const runnerType = await newRunnerType(stage);
    const made = await newToken(stage, [runnerType], { by: person.token });
    expect((await whoami(made.token)).status).toBe(200);
    return { person, runnerType, made };
  }

  async function isRevoked(id: string): Promise<boolean> {
    const { body } = await ask(api.url, 'GET', tokensPath, { token: people.Administrator.token });
    return body.find((item: { id: string }) => item.id === id).revoked;
  }
  return {
    stage,
    api,
    people,
    database,
    platform,
    users,
    whoami,
    becomes,
    change,
    makeDue,
    asked,
    creator,
    isRevoked,
  };
}
