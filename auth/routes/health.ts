/** Liveness of this service, for operators who run it separately. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { defineRoute } from '../route.ts';

export const authHealth = defineRoute({
  id: 'authenticationHealth',
  method: 'GET',
  path: '/api/authorization/health',
  summary: 'Checks the authentication service and its database',
  description: 'For a separate authentication service: also 503 from the moment it starts to stop.',
  tags: ['Health'],
  access: access.open,
  responses: { 200: { description: 'Both answer.', schema: z.object({ status: z.literal('ok') }) } },
  async handler({ services }) {
    if (services.leaving.aborted) throw new Problem('unavailable');
    try {
      await services.database.query({ name: 'probe', text: 'select 1' }, []);
    } catch (cause) {
      throw new Problem('unavailable', { cause });
    }
    return { status: 200, body: { status: 'ok' } };
  },
});
