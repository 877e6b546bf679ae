import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { routes as productRoutes } from '../../api/routes.ts';
import { access } from '../../domain/access.ts';
import { pathId } from '../../http/schemas.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const echo = defineRoute({
  id: 'echo',
  method: 'POST',
  path: '/echo/{id}',
  summary: 'Sends back what it understood',
  tags: ['Test'],
  access: access.open,
  params: z.object({ id: pathId() }),
  body: z.object({ Title: z.string(), Count: z.number().optional() }),
  bodyNames: 'PascalCase',
  responses: { 201: { description: 'Echo.', schema: z.object({ id: z.number(), title: z.string() }) } },
  refusals: { params: 'projectNotFound', body: 'invalidProjectData' },
  handler: ({ params, body }) => ({ status: 201, body: { id: params.id, title: body.Title } }),
});

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi(platform.environment, { routes: [...productRoutes, echo] });
});
afterAll(() => api.stop());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('a route', () => {
  test('answers under its listed path, /api/v2 and /api/v2.0', async () => {
    for (const prefix of ['', '/api/v2', '/api/v2.0']) {
      const response = await fetch(`${api.url}${prefix}/health_check`);
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
      expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    }
  });

  test('takes PascalCase and camelCase names', async () => {
    expect(await (await post('/echo/7', '{"Title":"a"}')).json()).toEqual({ id: 7, title: 'a' });
    expect(await (await post('/echo/7', '{"title":"b"}')).json()).toEqual({ id: 7, title: 'b' });
  });

  test('answers an id of a wrong form as a missing resource', async () => {
    for (const id of ['abc', '0', '-1', '9007199254740992', '%00', '%', '1.5']) {
      const response = await post(`/echo/${id}`, '{"Title":"a"}');
      expect([response.status, await response.json()]).toEqual([
        404,
        { status: 'error', message: 'Project not found.' },
      ]);
    }
  });
});
