/** The whole platform, API and worker, until the tests of a file have ended. */
import { afterAll } from 'vitest';
import { startTestApi, tokenOf } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { testWorkflows } from '../../support/workflows.ts';

export async function wholePlatform() {
  const platform = await testEnvironment();
  const workflows = await testWorkflows(platform.environment);
  const api = await startTestApi(platform.environment);
  afterAll(() => api.stop());
  await workflows.startWorker('all');
  const { username, password } = platform.administrator;
  return { api, administrator: platform.administrator, token: await tokenOf(api.url, username, password) };
}
