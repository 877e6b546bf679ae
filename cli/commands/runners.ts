/** `sdp runners`: instances that have claimed tasks, and draining. */
import { type AddCommand, examples, id, uuid, wholeNumber } from '../cli.ts';
import { pageNote, table, time } from '../output.ts';

export const addRunners: AddCommand = (program, cli) => {
  const runners = program.command('runners').description('Instances of runners.');
  runners
    .command('list')
    .description('Lists the instances that have claimed tasks, those seen last first.')
    .option('--page <number>', 'number of the page', id)
    .option('--page-size <number>', 'instances on a page', wholeNumber(1, 100))
    .addHelpText('after', examples('runners list'))
    .action(async (options: { page?: number; pageSize?: number }) => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/runners', { query: options });
      cli.print(
        found,
        () =>
          table(found.runners, {
            ID: (one) => one.id,
            INSTANCE: ({ instanceId }) => instanceId,
            TYPES: ({ runnerTypes }) => runnerTypes.join(', '),
            VERSION: ({ version }) => version,
            'LAST SEEN': ({ lastSeenAt }) => time(lastSeenAt),
            STATE: ({ state, drained }) => (drained && state !== 'drained' ? `${state}, drained` : state),
            HOLDS: ({ task }) => task && `${task.nodeName} of ${task.sessionId}`,
          }) + pageNote(found),
      );
    });
  runners
    .command('drain')
    .description('Lets an instance finish what it holds and gives it no more tasks.')
    .argument('<id>', 'id of the instance, as the list shows it', uuid)
    .addHelpText('after', examples('runners drain 0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71'))
    .action(async (runner: string) => {
      const platform = await cli.connect();
      const changed = await platform.call('POST /api/v2/admin/runners/{id}/drain', {
        params: { id: runner },
      });
      cli.print(changed, () => `${changed.instanceId} gets no more tasks.`);
    });
  runners
    .command('undrain')
    .description('Gives a drained instance tasks again.')
    .argument('<id>', 'id of the instance, as the list shows it', uuid)
    .addHelpText('after', examples('runners undrain 0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71'))
    .action(async (runner: string) => {
      const platform = await cli.connect();
      const changed = await platform.call('DELETE /api/v2/admin/runners/{id}/drain', {
        params: { id: runner },
      });
      cli.print(changed, () => `${changed.instanceId} gets tasks again.`);
    });
};
