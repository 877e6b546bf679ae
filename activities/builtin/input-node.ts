/** `input-node`: accepts uploads. */
import { z } from 'zod';
import { builtinNode, dataSourceName } from './node.ts';

export const inputNode = builtinNode({
  name: 'input-node',
  type: 'Input',
  description: 'Receives uploads.',
  configurationSchema: z.looseObject({ dataSourceName }),
});
