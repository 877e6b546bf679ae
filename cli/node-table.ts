/** The nodes of a session, as commands show them. */
import type { Session } from '../client/types.ts';
import { table, time } from './output.ts';

export const nodeTable = (nodes: Session['nodeInstances']) =>
  table(nodes, {
    NODE: (node) => node.id,
    NAME: ({ name }) => name,
    TEMPLATE: ({ nodeTemplateName }) => nodeTemplateName,
    STATE: ({ state }) => state,
    'LAST PROCESSED': ({ lastProcessed }) => time(lastProcessed),
    OUTPUT: ({ currentOutputId }) => currentOutputId,
    DETAILS: ({ statusDetails }) => statusDetails,
  });
