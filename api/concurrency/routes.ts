/** How many tasks of a node template or runner type are held at once (additions, section 2). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import {
  type ConcurrencyChange,
  changeConcurrencyLimit,
  listConcurrencyLimits,
} from '../../store/registry/concurrency-limits.ts';
import { defineRoute } from '../route.ts';
import {
  concurrencyChangeSchema,
  concurrencyParams,
  concurrencyQuery,
  concurrencySchema,
  presentConcurrency,
} from './schema.ts';

const tags = ['Runner administration'] as const;
const path = '/api/v2/admin/concurrency';
const params = concurrencyParams;

const list = defineRoute({
  id: 'listConcurrencyLimits',
  method: 'GET',
  path,
  summary: 'Lists the limits of how many tasks are held at once',
  description: 'By name. Node templates and runner types without a limit are not listed.',
  tags,
  access: access.admin,
  responses: {
    200: {
      description: 'The limits.',
      schema: z.object({ limits: z.array(concurrencySchema) }).meta({ id: 'ConcurrencyLimitList' }),
    },
  },
  async handler({ services }) {
    const limits = await listConcurrencyLimits(services.database);
    return { status: 200, body: { limits: limits.map(presentConcurrency) } };
  },
});

const change = defineRoute({
  id: 'changeConcurrencyLimit',
  method: 'PUT',
  path: `${path}/{name}`,
  summary: 'Limits how many tasks of a node template or runner type are held at once',
  description:
    'Replaces the limit of the manifest. The platform never hands out more tasks than this; tasks that are held when a ' +
    'limit is lowered may finish. `explain` says when a task waits for a place. Built-in nodes and `Input` nodes have no limit.',
  tags,
  access: access.admin,
  audit: { object: 'concurrency', from: 'name' },
  params,
  body: concurrencyChangeSchema,
  responses: { 200: { description: 'The limit.', schema: concurrencySchema } },
  errors: ['concurrencyNameNotFound', 'concurrencyNameAmbiguous', 'concurrencyOfBuiltin'],
  refusals: { params: 'concurrencyNameNotFound' },
  async handler({ services, params, body, principal }) {
    const { kind, ...chosen } = body;
    const of = { name: params.name, kind };
    const changed = await changeConcurrencyLimit(services.database, of, chosen, principal.userId);
    return { status: 200, body: presentConcurrency(done(changed).limit) };
  },
});

const remove = defineRoute({
  id: 'removeConcurrencyLimit',
  method: 'DELETE',
  path: `${path}/{name}`,
  summary: 'Goes back to the limit that the manifest declares',
  description: 'Without one in the manifest any number of tasks is held at once. A repeat changes nothing.',
  tags,
  access: access.admin,
  audit: { object: 'concurrency', from: 'name' },
  params,
  query: concurrencyQuery,
  responses: { 204: { description: 'The manifest holds.' } },
  errors: ['concurrencyNameNotFound', 'concurrencyNameAmbiguous', 'concurrencyOfBuiltin'],
  refusals: { params: 'concurrencyNameNotFound' },
  async handler({ services, params, query, principal }) {
    const of = { name: params.name, kind: query.kind };
    done(await changeConcurrencyLimit(services.database, of, null, principal.userId));
    return { status: 204 };
  },
});

const refusals = {
  missing: 'concurrencyNameNotFound',
  ambiguous: 'concurrencyNameAmbiguous',
  'built-in': 'concurrencyOfBuiltin',
} as const;

function done(change: ConcurrencyChange) {
  if (change.outcome === 'changed') return change;
  throw new Problem(refusals[change.outcome]);
}

export const concurrencyRoutes = [list, change, remove];
