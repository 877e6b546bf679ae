/** `sdp runners`: instances that have claimed tasks, and draining. */
import type { Queue } from '../../client/types.ts';
import { type AddCommand, examples, id, uuid, wholeNumber } from '../cli.ts';
import { pageNote, table, time } from '../output.ts';

export const addRunners: AddCommand = (program, cli) => {
  const runners = program.command('runners').description('Runner instances.');
  runners
    .command('list')
    .description('Lists the instances that have claimed tasks, last seen first.')
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'instances per page', wholeNumber(1, 100))
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
    .command('queues')
    .description(
      'Lists what waits for each node template, the longest wait first, and the runners that are connected.',
    )
    .addHelpText('after', examples('runners queues'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/queues');
      cli.print(
        found,
        () =>
          table(found.queues, {
            'NODE TEMPLATE': ({ nodeTemplate }) => nodeTemplate,
            'RUNNER TYPE': ({ runnerType }) => runnerType,
            WAITING: ({ waiting }) => waiting,
            'LONGEST WAIT': ({ oldestWaitSeconds }) =>
              oldestWaitSeconds === null ? null : `${Math.round(oldestWaitSeconds)} s`,
            RUNNING: ({ held }) => held,
            RUNNERS: runnersOf,
            'LAST HOUR': ({ lastHour }) => `${lastHour.completed} done, ${lastHour.failed} failed`,
          }) + unservedNote(found.queues),
      );
    });
  addDraining(runners, cli);
};

const addDraining: AddCommand = (runners, cli) => {
  runners
    .command('drain')
    .description('Drains an instance: it finishes its task and gets no more.')
    .argument('<id>', 'id of the instance in the list', uuid)
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
    .description('Ends the draining of an instance.')
    .argument('<id>', 'id of the instance in the list', uuid)
    .addHelpText('after', examples('runners undrain 0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71'))
    .action(async (runner: string) => {
      const platform = await cli.connect();
      const changed = await platform.call('DELETE /api/v2/admin/runners/{id}/drain', {
        params: { id: runner },
      });
      cli.print(changed, () => `${changed.instanceId} gets tasks again.`);
    });
};

/** Built-in nodes are run by the platform itself. */
const isUnserved = ({ runtime, waiting, runners }: Queue) =>
  runtime !== 'system' && waiting > 0 && runners.busy + runners.waiting === 0;

function runnersOf({ runtime, runners }: Queue): string {
  if (runtime === 'system') return 'built in';
  const { busy, waiting, drained, gone } = runners;
  const there = Object.entries({ busy, waiting, drained }).filter(([, count]) => count > 0);
  if (there.length > 0) return there.map(([state, count]) => `${count} ${state}`).join(', ');
  return gone > 0 ? `none, ${gone} gone` : 'none';
}

function unservedNote(queues: readonly Queue[]): string {
  return queues
    .filter(isUnserved)
    .map(({ runnerType, nodeTemplate, runtime, runners }) => {
      const remedy =
        runners.drained > 0
          ? 'undrain one (`sdp runners undrain`)'
          : runtime === 'sdk'
            ? 'check the host of deployed runners'
            : 'start one';
      return `\nNo runner of type ${runnerType} is there for what waits at ${nodeTemplate}: ${remedy}.`;
    })
    .join('');
}
