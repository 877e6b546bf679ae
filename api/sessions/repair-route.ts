/** Repairs a session at once; the platform does the same within a minute (decisions 7). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { story } from '../../domain/examples.ts';
import { type PlannedSession, planWholeSession } from '../../store/sessions/repair-session.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import { queueTarget, sessionTarget, windowTarget } from '../../workflows/targets.ts';
import { defineRoute } from '../route.ts';
import { sessionParams } from './schema.ts';

const repairedSchema = z
  .object({
    sessionId: z.guid(),
    planned: z.int().meta({ description: 'Node instances that got a run which was due to them.' }),
    workflow: z.enum(['running', 'started', 'restarted']).meta({
      description:
        'How its workflow was found: `running` and told to look again, missing and `started`, or unable to go on and `restarted`.',
    }),
  })
  .meta({
    id: 'SessionRepaired',
    example: { sessionId: story.sessionId, planned: 0, workflow: 'running' },
  });

const repair = defineRoute({
  id: 'repairSession',
  method: 'POST',
  path: '/api/v2/admin/sessions/{id}/repair',
  summary: 'Has a session planned as a whole and its workflow seen to, at once',
  description:
    'The platform does the same by itself within a minute: every node instance is planned from what is stored, retries ' +
    'that are due are queued, and the workflow of the session is told to look, started when it is gone, and started ' +
    'anew when it cannot go on; so are those of its window and of queued uploads where something waits. In a frozen ' +
    'session nothing is planned. A repeat is fine. With 503 the session is planned, and its workflow is seen to when ' +
    'the workflow engine answers again.',
  tags: ['Sessions'],
  access: access.admin,
  audit: { object: 'session', from: 'id' },
  params: sessionParams,
  responses: { 202: { description: 'Planned, and its workflow is told.', schema: repairedSchema } },
  errors: ['sessionNotFound', 'unavailable'],
  refusals: { params: 'sessionNotFound' },
  async handler({ services, params, principal, log }) {
    const session = await planWholeSession(services.database, params.id);
    if (session === undefined) throw new Problem('sessionNotFound');
    const workflow = await seeToWorkflows(services.workflows, session).catch((cause) => {
      throw new Problem('unavailable', {
        message: 'The session is planned, and the workflow engine does not answer.',
        cause,
      });
    });
    const { planned } = session;
    log.info(
      { audit: 'repairSession', userId: principal.userId, sessionId: params.id, planned, workflow },
      'a session is repaired',
    );
    return { status: 202, body: { sessionId: params.id, planned, workflow } };
  },
});

async function seeToWorkflows(
  workflows: WorkflowClient,
  { session, hasOpenWindow, hasQueuedUploads }: PlannedSession,
): Promise<z.output<typeof repairedSchema>['workflow']> {
  const target = sessionTarget(session);
  const health = await workflows.health(target);
  if (health === 'failing')
    await workflows.terminate(target, 'An operator had the session repaired; it starts anew.');
  await workflows.wake(target);
  if (hasOpenWindow) await workflows.wake(windowTarget(session));
  if (hasQueuedUploads) await workflows.wake(queueTarget(session.projectId));
  return ({ running: 'running', ended: 'started', failing: 'restarted' } as const)[health];
}

export const sessionRepairRoutes = [repair];
