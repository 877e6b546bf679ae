/** A route of the tests' own that reads an upload. */
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { access } from '../../domain/access/access.ts';

export const count = defineRoute({
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
