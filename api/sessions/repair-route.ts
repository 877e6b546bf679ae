/** Repairs a session at once; the platform does the same within a minute (decisions 7). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { type PlannedSession, planWholeSession } from '../../store/sessions/repair-session.ts';
import type { WorkflowClient, WorkflowRepair } from '../../workflows/client.ts';
import { queueTarget, sessionTarget, windowTarget } from '../../workflows/targets.ts';
import { defineRoute } from '../route.ts';
import { sessionParams } from './schema.ts';

const repairedSchema = z
  .object({
    sessionId: z.guid(),
    planned: z.int().meta({ description: 'Number of node instances that got a run which was due.' }),
    workflow: z.enum(['running', 'started', 'restarted']).meta({
      description:
        '`running`: the workflow was notified; `started`: it was missing; `restarted`: it could not continue.',
    }),
  })
  .meta({
    id: 'SessionRepaired',
    example: { sessionId: exampleValues.sessionId, planned: 0, workflow: 'running' },
  });

const repair = defineRoute({
  id: 'repairSession',
  method: 'POST',
  path: '/api/v2/admin/sessions/{id}/repair',
  summary: 'Plans a session and repairs its workflow at once',
  description:
    'The platform does the same automatically within a minute: every node instance is planned from the stored state, due retries ' +
    'are queued, and the workflow of the session is notified, started if it is missing, and restarted ' +
    'if it cannot continue. So are the workflows of its window and of queued uploads if they have work. Runs of a ' +
    'frozen session wait until it is unfrozen. A repeat is harmless. With 503 the session is planned, and its workflow is repaired when ' +
    'the workflow engine is available again.',
  tags: ['Sessions'],
  access: access.admin,
  audit: { object: 'session', from: 'id' },
  params: sessionParams,
  responses: { 202: { description: 'Planned, and its workflow is notified.', schema: repairedSchema } },
  errors: ['sessionNotFound', 'unavailable'],
  refusals: { params: 'sessionNotFound' },
  async handler({ services, params, principal, log }) {
    const session = await planWholeSession(services.database, params.id);
    if (session === undefined) throw new Problem('sessionNotFound');
    const workflow = await repairWorkflows(services.workflows, session).catch((cause) => {
      throw new Problem('unavailable', {
        message: 'The session is planned, and the workflow engine is unavailable.',
        cause,
      });
    });
    const { planned } = session;
    log.info(
      { audit: 'repairSession', userId: principal.userId, sessionId: params.id, planned, workflow },
      'session repaired',
    );
    return { status: 202, body: { sessionId: params.id, planned, workflow } };
  },
});

async function repairWorkflows(
  workflows: WorkflowClient,
  { session, hasOpenWindow, hasQueuedUploads }: PlannedSession,
): Promise<WorkflowRepair> {
  const repaired = await workflows.repair(sessionTarget(session));
  if (hasOpenWindow) await workflows.repair(windowTarget(session));
  if (hasQueuedUploads) await workflows.repair(queueTarget(session.projectId));
  return repaired;
}

export const sessionRepairRoutes = [repair];
