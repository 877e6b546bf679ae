/** Liveness (contract: Health; decisions 14). Temporal is not asked: devices go on uploading while it is down. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { defineRoute } from '../route.ts';
import type { Probe } from '../services.ts';

const probeLimitMs = 2000;
const probeEveryMs = 1000;
const healthSchema = z.object({ status: z.literal('ok') });

const healthCheck = defineRoute({
  id: 'healthCheck',
  method: 'GET',
  path: '/health_check',
  traced: false,
  summary: 'Checks database and storage',
  description: 'Each must answer within two seconds. They are checked at most once a second.',
  tags: ['Health'],
  access: access.open,
  responses: { 200: { description: 'Both answer.', schema: healthSchema } },
  errors: ['unavailable'],
  async handler({ services }) {
    await Promise.all([check(services.probes.database), check(services.probes.storage)]);
    return { status: 200, body: { status: 'ok' } };
  },
});

const health = defineRoute({
  id: 'health',
  method: 'GET',
  path: '/api/v2/health',
  traced: false,
  summary: 'Checks the process and the database',
  description: 'The workflow engine is not checked, because devices can upload while it is down.',
  tags: ['Health'],
  access: access.open,
  responses: { 200: { description: 'Reachable.', schema: healthSchema } },
  errors: ['unavailable'],
  async handler({ services }) {
    await check(services.probes.database);
    return { status: 200, body: { status: 'ok' } };
  },
});

const readiness = defineRoute({
  id: 'readinessCheck',
  method: 'GET',
  path: '/ready_check',
  summary: 'Checks whether this process accepts requests',
  description:
    'For load balancers: 503 from the moment this process starts to stop. It checks no other ' +
    'part, since an outage of another part affects all APIs equally.',
  tags: ['Health'],
  access: access.open,
  responses: { 200: { description: 'It accepts requests.', schema: healthSchema } },
  errors: ['unavailable'],
  async handler({ services }) {
    if (services.leaving.aborted) throw new Problem('unavailable');
    return { status: 200, body: { status: 'ok' } };
  },
});

type Checked = { readonly at: number; readonly result: Promise<void> };
const lastChecks = new WeakMap<Probe, Checked>();

/** Probes a part at most once a second, however many callers there are; throws the 503 problem when it is down. */
async function check(probe: Probe): Promise<void> {
  const now = performance.now();
  let last = lastChecks.get(probe);
  if (last === undefined || now - last.at >= probeEveryMs) {
    last = { at: now, result: withLimit(probe) };
    last.result.catch(() => undefined);
    lastChecks.set(probe, last);
  }
  try {
    await last.result;
  } catch (cause) {
    throw new Problem('unavailable', { cause });
  }
}

async function withLimit(probe: Probe): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer within 2 seconds')), probeLimitMs);
  });
  try {
    await Promise.race([probe(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export const healthRoutes = [healthCheck, health, readiness];
