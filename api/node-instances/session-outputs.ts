/** The outputs of all nodes of a session in one list. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { booleanParameter, integerParameter, pathId } from '../../http/schemas.ts';
import { sessionOutputs } from '../../store/search/session-outputs.ts';
import { defineRoute } from '../route.ts';
import { sessionParams } from '../sessions/schema.ts';
import { presentListedOutput } from './present.ts';
import { listedOutputSchema } from './schema.ts';

const pageSchema = z
  .object({
    outputs: z.array(listedOutputSchema),
    totalCount: z.int().meta({ description: 'Outputs that match, on all pages.' }),
    totalCountIsExact: z.boolean().meta({ description: 'False: there are more.' }),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
  .meta({ id: 'SessionOutputs', example: { totalCount: 1, totalCountIsExact: true, nextCursor: null } });

export const listSessionOutputs = defineRoute({
  id: 'listSessionOutputs',
  method: 'GET',
  path: '/api/v2/session/{id}/outputs',
  summary: 'Lists the outputs of all nodes of a session, newest first',
  description:
    'Page by page: `cursor` takes the `nextCursor` of the page before. Outputs that are published between two pages ' +
    'are before the first one, and move no other. Pages of outputs with much metadata are shorter than `limit`. The ' +
    'configuration of an output is in the list of its node.',
  tags: ['Node outputs'],
  access: access.outputRead,
  params: sessionParams,
  query: z.object({
    nodeInstanceId: pathId()
      .optional()
      .meta({ description: 'Outputs of this node alone.', example: exampleValues.inputNodeId }),
    latest: booleanParameter().meta({
      type: 'boolean',
      example: true,
      description: 'Only the newest output of each node.',
    }),
    search: z.string().min(1).max(limits.nameCharacters).optional().meta({
      description:
        'A part of the identifier, or of `fileName`, `name` or `kind` in the metadata. Capitals and small letters are the same.',
      example: 'lap-12',
    }),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, { error: 'must be the `nextCursor` of a page' })
      .transform(Number)
      .optional()
      .meta({ type: 'string', description: 'The `nextCursor` of the page before.', example: '81' }),
    limit: integerParameter({
      min: 1,
      max: limits.sessionOutputsPageMax,
      initial: limits.sessionOutputsPageDefault,
    }).meta({ description: 'Outputs per page.' }),
  }),
  responses: { 200: { description: 'One page.', schema: pageSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler({ params, query, services }) {
    const { nodeInstanceId = null, search = null, latest, cursor = null, limit } = query;
    const found = await sessionOutputs(
      services.database,
      params.id,
      { nodeInstanceId, text: search, isLatest: latest },
      { before: cursor, limit },
    );
    if (found === undefined) throw new Problem('sessionNotFound');
    const { outputs, total, next } = found;
    return {
      status: 200,
      body: {
        outputs: outputs.map(presentListedOutput),
        totalCount: total.count,
        totalCountIsExact: total.isExact,
        nextCursor: next === null ? null : String(next),
      },
    };
  },
});
