/** The whole platform, API and both workers, until the tests of a file have ended. */
import { afterAll } from 'vitest';
import { startTestApi, tokenOf } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { testWorkflows } from '../../support/workflows.ts';

export async function wholePlatform() {
  const platform = await testEnvironment();
  const workflows = await testWorkflows(platform.environment);
  const api = await startTestApi(platform.environment);
  afterAll(() => api.stop());
  await Promise.all([workflows.startWorker('workflows'), workflows.startWorker('builtin')]);
  const { username, password } = platform.administrator;
  return { api, administrator: platform.administrator, token: await tokenOf(api.url, username, password) };
}
