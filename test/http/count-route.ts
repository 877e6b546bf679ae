/** A route of the tests' own that reads an upload. */
import { z } from 'zod';
import type { Principal } from '../../api/identity/auth-client.ts';
import type { Services } from '../../api/services.ts';
import { access } from '../../domain/access/access.ts';
import { routeFactory } from '../../http/route.ts';

export const count = routeFactory<Services, Principal>()({
  id: 'count',
  method: 'POST',
  path: '/count',
  summary: 'Counts the bytes of an upload',
  tags: ['Test'],
  access: access.open,
  body: 'stream',
  responses: { 201: { description: 'Counted.', schema: z.object({ bytes: z.number() }) } },
  async handler({ body }) {
    let bytes = 0;
    for await (const chunk of body.open()) bytes += (chunk as Buffer).length;
    return { status: 201, body: { bytes } };
  },
});
