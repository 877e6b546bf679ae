/** Wire forms of what lists and the page of a session show of its work. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { visibleNodeStates } from '../../domain/runs/node-state.ts';
import { sessionStates } from '../../domain/sessions/session-state.ts';
import { timestampOut } from '../../http/schemas.ts';
import { priorityMeaning } from '../projects/schema.ts';
import { sessionExample, sessionSchema } from './schema.ts';

export const overviewFields = {
  state: z.enum(sessionStates).meta({
    description:
      '`failed`: a node is Failed. `running`: else a run is queued, held or waits. `notStarted`: nothing was ever ' +
      'published. `done`: else.',
  }),
  frozen: z.boolean(),
  priority: z.int().meta({ description: `The priority of the session alone. ${priorityMeaning}` }),
  nodeCounts: z
    .partialRecord(z.enum(visibleNodeStates), z.int())
    .meta({ description: 'Number of nodes by state; states that do not occur are omitted.' }),
  outputBytes: z.int().meta({ description: 'The bytes of the outputs as they are now, as stored.' }),
  lastActivityAt: timestampOut().meta({
    description:
      'When something was last published, queued or ended, or the session was frozen or closed: to ten seconds.',
  }),
  owner: z
    .object({
      id: z.guid().meta({ description: 'The creator.' }),
      name: z.string().nullable().meta({ description: 'Null when the caller may not see the person.' }),
    })
    .meta({ example: { id: exampleValues.userId, name: 'Petra Lindqvist' } }),
  pinnedMetadata: z
    .array(z.object({ path: z.string(), value: z.unknown() }))
    .meta({ description: 'The values at the paths that the project pins, where there is one.' }),
  dashboardUrl: z.string().nullable().meta({ description: 'Path of the newest dashboard in the console.' }),
};

export const overviewExample = {
  state: 'done',
  frozen: false,
  priority: 0,
  nodeCounts: { Succeeded: 3 },
  outputBytes: 16_214_318,
  owner: { id: exampleValues.userId, name: 'Petra Lindqvist' },
  pinnedMetadata: [{ path: 'vehicle.type', value: 'glider' }],
  dashboardUrl: `/dashboards/${exampleValues.dimensionId}`,
};

export const sessionDetailsSchema = sessionSchema
  .extend(overviewFields)
  .meta({ id: 'SessionDetails', example: { ...sessionExample, ...overviewExample } });
