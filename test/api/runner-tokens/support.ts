/** Runner tokens as tests make them, over the interface. */
import { randomUUID } from 'node:crypto';
import { type Answer, ask } from '../../support/api.ts';
import type { RunnerStage } from '../../support/runner.ts';

export const tokensPath = '/api/v2/admin/runner-tokens';

export interface MadeToken {
  readonly token: string;
  readonly id: string;
  readonly expiresAt: string;
  readonly scopes: readonly string[];
}

/** Registers a runner type of this runtime under a new name. */
export async function newRunnerType(
  stage: RunnerStage,
  runtime: 'external' | 'sdk' = 'external',
): Promise<string> {
  const name = `type-${randomUUID()}`;
  await stage.database.query('insert into runner_type (name, runtime) values ($1, $2)', [name, runtime]);
  return name;
}

/** @param by access token of its creator; default the Developer's */
export function requestToken(
  stage: RunnerStage,
  json: object,
  by = stage.people.Developer.token,
): Promise<Answer> {
  return ask(stage.api.url, 'POST', tokensPath, { token: by, json });
}

/** A token for these runner types with both scopes. */
export async function newToken(
  stage: RunnerStage,
  runnerTypes: readonly string[],
  options: { readonly by?: string; readonly fields?: object } = {},
): Promise<MadeToken> {
  const json = { runnerTypes, scopes: ['tasks', 'debug:read'], label: 'test', ...options.fields };
  const answer = await requestToken(stage, json, options.by);
  if (answer.status !== 201) throw new Error(`runner token: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export function revoke(
  stage: RunnerStage,
  id: string,
  by = stage.people.Administrator.token,
): Promise<Answer> {
  return ask(stage.api.url, 'DELETE', `${tokensPath}/${id}`, { token: by });
}

/** A chain of nodes of its own runner type, and a token for it. */
export async function tokenStage(
  stage: RunnerStage,
  options: { readonly length?: number; readonly by?: string } = {},
) {
  const runnerType = await newRunnerType(stage);
  const graph = await stage.chainOf(options.length ?? 1, { runnerType });
  const made = await newToken(stage, [runnerType], options.by === undefined ? {} : { by: options.by });
  return { runnerType, graph, made, runner: () => stage.runner({ token: made.token }) };
}
