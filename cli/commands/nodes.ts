/** `sdp nodes`: the nodes of a session with their ids. */
import { type AddCommand, examples, uuid } from '../cli.ts';
import { nodeTable } from '../node-table.ts';

export const addNodes: AddCommand = (program, cli) => {
  program
    .command('nodes')
    .description('Lists the nodes of a session.')
    .argument('<sessionId>', 'the session', uuid)
    .addHelpText('after', examples('nodes 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10'))
    .action(async (sessionId: string) => {
      const platform = await cli.connect();
      const found = await platform.call('GET /api/v2/sessions/{id}', { params: { id: sessionId } });
      cli.print(found.nodeInstances, () => nodeTable(found.nodeInstances));
    });
};
