/** A session adopts what its session template says by now, or another session template. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { errorSchema } from '../../http/errors.ts';
import { bodyId } from '../../http/schemas.ts';
import { type AdoptionResult, adoptTemplate } from '../../store/sessions/adopt-template.ts';
import { defineRoute } from '../route.ts';
import { templateChangeSchema } from '../session-templates/schema.ts';
import { sessionParams } from './schema.ts';

const requestSchema = z
  .object({
    sessionTemplateId: bodyId().nullish().meta({ description: 'Default: the session’s own template.' }),
    dryRun: z.boolean().default(false).meta({ description: 'Only answers what would change.' }),
  })
  .prefault({})
  .meta({
    id: 'TemplateAdoptionRequest',
    example: { sessionTemplateId: exampleValues.templateId, dryRun: true },
  });

const adoptionSchema = z
  .object({
    sessionTemplateId: z.int(),
    sessionTemplateName: z.string(),
    dryRun: z.boolean(),
    changes: z.array(
      templateChangeSchema().extend({
        edited: z.literal(true).optional().meta({
          description: 'Present where people changed the configuration in this session: their change goes.',
        }),
      }),
    ),
  })
  .meta({
    id: 'TemplateAdoption',
    example: {
      sessionTemplateId: exampleValues.templateId,
      sessionTemplateName: exampleValues.templateName,
      dryRun: true,
      changes: [
        {
          node: 'tabular-autodetect',
          kind: 'configuration',
          before: { inputFormat: 'auto' },
          after: { inputFormat: 'csv' },
        },
      ],
    },
  });

const refusedSchema = errorSchema
  .extend({
    refusals: z.array(
      z.object({
        node: z.string().nullable().meta({ description: 'Null: the session itself refuses.' }),
        message: z.string(),
      }),
    ),
  })
  .meta({
    id: 'TemplateNotAdoptable',
    example: {
      message: 'The session cannot adopt the session template.',
      refusals: [{ node: 'laps', message: "The node 'laps' has run and cannot be removed." }],
    },
  });

const refusals: Readonly<Record<Exclude<AdoptionResult['outcome'], 'adopted' | 'refused'>, ProblemKey>> = {
  missing: 'sessionNotFound',
  'template-missing': 'sessionTemplateNotFound',
  frozen: 'sessionFrozen',
};

const adopt = defineRoute({
  id: 'adoptSessionTemplate',
  method: 'POST',
  path: '/api/v2/session/{id}/adopt-template',
  summary: 'Has a session adopt what its template says by now, or another template',
  description:
    'Nodes of the same name keep their outputs and get the configuration of the template, also where a person had ' +
    'changed it: each change is a revision. They do not run again by it: reprocess them. Added nodes run over what ' +
    'their parents have. Once a node has run, a template that has it removed, with other parents, or of another node ' +
    'template is refused.',
  tags: ['Sessions'],
  access: access.sessionAdopt,
  audit: { object: 'session', from: 'id' },
  idempotent: 'plain',
  params: sessionParams,
  body: requestSchema,
  responses: { 200: { description: 'What has changed, or would.', schema: adoptionSchema } },
  errors: [...Object.values(refusals), 'templateNotAdoptable'],
  errorBodies: { templateNotAdoptable: refusedSchema },
  refusals: { params: 'sessionNotFound' },
  async handler({ params, body, principal, services }) {
    const { sessionTemplateId = null, dryRun } = body;
    const result = await adoptTemplate(services.database, {
      sessionId: params.id,
      sessionTemplateId,
      dryRun,
      changedBy: principal.userId,
    });
    if (result.outcome === 'refused') {
      const message = `The session cannot adopt the session template. ${result.refusals[0]!.message}`;
      throw new Problem('templateNotAdoptable', { message, fields: { refusals: result.refusals } });
    }
    if (result.outcome !== 'adopted') throw new Problem(refusals[result.outcome]);
    const { template, changes } = result;
    return {
      status: 200,
      body: { sessionTemplateId: template.id, sessionTemplateName: template.name, dryRun, changes },
    };
  },
});

export const adoptTemplateRoutes = [adopt];
