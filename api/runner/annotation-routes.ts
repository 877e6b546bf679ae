/** Annotations that the holder of a task makes (additions, section 4). */
import { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { stageAnnotations } from '../../store/sessions/annotations.ts';
import { annotationFields, newAnnotationSchema } from '../annotations/schema.ts';
import { defineRoute } from '../route.ts';
import { callerOf, taskRoute } from './identity.ts';
import { writeProblem } from './write-problem.ts';

const requestSchema = z
  .object({ annotations: z.array(newAnnotationSchema).min(1).max(limits.annotationsPerCall) })
  .meta({ id: 'RunnerAnnotations' });

const replySchema = z
  .object({ staged: z.int().meta({ description: 'How many the call held.' }) })
  .meta({ id: 'RunnerAnnotationsReply', example: { staged: 1 } });

const stage = defineRoute({
  ...taskRoute,
  id: 'stageTaskAnnotations',
  method: 'POST',
  path: '/api/v2/runner/tasks/{taskId}/annotations',
  summary: "Adds annotations to the task's session",
  description:
    `Up to ${limits.annotationsPerCall} moments or ranges a call. They are staged as outputs are, and published with the ` +
    "run's outputs: when the task completes, or the watermark moves. The same annotation of a node counts once, so a call " +
    'can be repeated safely, and a reprocess doubles none. Those that are still staged are dropped when the run fails for ' +
    'good, is cancelled, or ends without outputs.',
  body: requestSchema,
  responses: { 200: { description: 'Staged.', schema: replySchema } },
  errors: ['tooManyAnnotations'],
  async handler(context) {
    const { body, services } = context;
    const annotations = body.annotations.map(annotationFields);
    const result = await stageAnnotations(services.database, callerOf(context), annotations);
    if (typeof result === 'object') throw writeProblem(result.why);
    if (result === 'too-many') throw new Problem('tooManyAnnotations');
    return { status: 200, body: { staged: annotations.length } };
  },
});

export const annotationTaskRoutes = [stage];
