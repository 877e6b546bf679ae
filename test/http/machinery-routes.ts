/** Routes for machinery.test.ts: one echoes, one refuses before it reads, one violates its declaration. */
import { z } from 'zod';
import type { Principal } from '../../api/identity/auth-client.ts';
import type { Services } from '../../api/services.ts';
import { access } from '../../domain/access/access.ts';
import { routeFactory } from '../../http/route.ts';
import { freeJson, nameText, pathId, timestamp } from '../../http/schemas.ts';

const tags = ['Test'];

const defineRoute = routeFactory<Services, Principal>();

export const echo = defineRoute({
  id: 'echo',
  method: 'POST',
  path: '/echo/{id}',
  summary: 'Sends back what it understood',
  tags,
  access: access.open,
  params: z.object({ id: pathId() }),
  body: z.object({
    Title: nameText(),
    At: timestamp().optional(),
    Metadata: freeJson().optional(),
  }),
  bodyNames: 'PascalCase',
  responses: {
    201: {
      description: 'Echo.',
      schema: z.object({
        id: z.number(),
        title: z.string(),
        at: z.string().nullable(),
        metadata: z.string(),
      }),
    },
  },
  refusals: { params: 'projectNotFound', body: 'invalidProjectData' },
  handler: ({ params, body }) => ({
    status: 201,
    body: {
      id: params.id,
      title: body.Title,
      at: body.At?.toISOString() ?? null,
      metadata: JSON.stringify(body.Metadata ?? null),
    },
  }),
});

/** Without a text of its own for refusals. */
export const plain = defineRoute({
  id: 'plain',
  method: 'POST',
  path: '/plain',
  summary: 'Names what is wrong',
  tags,
  access: access.open,
  query: z.object({ at: timestamp(), many: z.string().optional() }),
  body: z.object({ list: z.array(z.object({ count: z.int(), name: nameText(255, 'A name is needed.') })) }),
  responses: { 204: { description: 'All is well.' } },
  handler: () => ({ status: 204 }),
});

export const refuse = defineRoute({
  id: 'refuse',
  method: 'POST',
  path: '/refuse',
  summary: 'Answers before it reads',
  tags,
  access: access.userData,
  body: 'stream',
  responses: { 204: { description: 'Never.' } },
  handler: () => ({ status: 204 }),
});

export const faulty = defineRoute({
  id: 'faulty',
  method: 'GET',
  path: '/faulty/{how}',
  summary: 'Breaks its own word',
  tags,
  access: access.open,
  params: z.object({ how: z.string() }),
  responses: { 200: { description: 'Fine.', schema: z.object({ fine: z.boolean() }) } },
  handler({ params: { how } }) {
    if (how === 'throws') throw new Error('postgres://user:password@inside');
    const body = { fine: true, extra: 'undeclared' };
    return { status: 200, body };
  },
});
