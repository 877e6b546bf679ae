/** Queries for lists of runs. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { completeOutcomes } from '../../domain/runs/run-plan.ts';
import {
  commaList,
  idParameter,
  integerParameter,
  optionalText,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import { runStates } from './schema.ts';

const stateList = commaList(
  z.enum(runStates),
  `state must be one or more of ${runStates.join(', ')}, separated by commas.`,
).meta({ example: 'failed,cancelled' });

/** The parameters that both lists have. */
const common = {
  sessionId: uuid()
    .optional()
    .meta({ description: 'Only runs of this session.', example: exampleValues.sessionId }),
  nodeInstanceId: idParameter().meta({
    description: 'Only runs of this node instance.',
    example: exampleValues.nodeId,
  }),
  template: optionalText(limits.nameCharacters)
    .optional()
    .meta({ description: 'Only runs of nodes of this node template.', example: 'lap-splitter' }),
  page: integerParameter({ min: 1, initial: 1 }).meta({ description: 'Page number, from 1.' }),
  pageSize: integerParameter({
    min: 1,
    max: limits.nodeRunPageSizeMax,
    initial: limits.nodeRunPageSizeDefault,
  }).meta({ description: 'Runs per page.' }),
};

export const nodeRunListQuerySchema = z
  .object({
    sessionId: common.sessionId,
    nodeInstanceId: common.nodeInstanceId,
    nodeTemplate: common.template,
    state: stateList.optional().meta({
      description:
        'States, separated by commas. Default: all runs of the session or node instance; without either, all open or failed runs.',
      example: 'failed,cancelled',
    }),
    page: common.page,
    pageSize: common.pageSize,
  })
  .refine(
    ({ sessionId, nodeInstanceId, state = [] }) =>
      sessionId !== undefined ||
      nodeInstanceId !== undefined ||
      !state.some((one) => (completeOutcomes as readonly string[]).includes(one)),
    { error: `The states ${completeOutcomes.join(', ')} require sessionId or nodeInstanceId.` },
  );

export const runSearchSchema = z.object({
  sessionId: common.sessionId,
  nodeInstanceId: common.nodeInstanceId,
  state: stateList.optional().meta({
    description: 'States, with commas between them; without it all.',
    example: 'failed,cancelled',
  }),
  template: common.template,
  projectId: idParameter().meta({
    description: 'Only runs of this project.',
    example: exampleValues.projectId,
  }),
  from: timestamp().optional().meta({ description: 'Only runs made at this time or later.' }),
  to: timestamp().optional().meta({ description: 'Only runs made before this time.' }),
  page: common.page,
  pageSize: common.pageSize,
});
