/** `sdp runs` and `sdp explain`: what nodes do, and why they do not. */
import { ApiError } from '../../client/errors.ts';
import type { NodeRun } from '../../client/types.ts';
import { type AddCommand, type Cli, examples, id, uuid, wholeNumber } from '../cli.ts';
import { facts, pageNote, table, time } from '../output.ts';

interface RunFilter {
  readonly session?: string;
  readonly node?: number;
  readonly template?: string;
  readonly state?: string;
  readonly page?: number;
  readonly pageSize?: number;
}

export const addRuns: AddCommand = (program, cli) => {
  const runs = program.command('runs').description('Runs of nodes.');
  runs
    .command('list')
    .description('Lists runs, the last queued first; without a filter those that are open or failed.')
    .option('--session <id>', 'only runs of this session', uuid)
    .option('--node <id>', 'only runs of this node instance', id)
    .option('--template <name>', 'only runs of this node template')
    .option('--state <states>', 'queued, held, waiting, failed, cancelled, completed, ..., by commas')
    .option('--page <number>', 'number of the page', id)
    .option('--page-size <number>', 'runs on a page', wholeNumber(1, 100))
    .addHelpText('after', examples('runs list --state failed,cancelled', 'runs list --node 102'))
    .action(async ({ session, node, template, ...rest }: RunFilter) => {
      const query = { sessionId: session, nodeInstanceId: node, nodeTemplate: template, ...rest };
      const found = await (await cli.connect()).call('GET /api/v2/admin/node-runs', { query });
      cli.print(found, () => runTable(found.nodeRuns) + pageNote(found));
    });
  runs
    .command('retry')
    .description('Has runs that failed or were cancelled tried again.')
    .argument('<ids...>', 'ids of the runs')
    .addHelpText('after', examples('runs retry 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97'))
    .action((ids: string[]) => forEach(cli, ids, 'retry'));
  runs
    .command('cancel')
    .description('Cancels open runs; the holder of one that is held is told.')
    .argument('<ids...>', 'ids of the runs')
    .addHelpText('after', examples('runs cancel 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97'))
    .action((ids: string[]) => forEach(cli, ids, 'cancel'));
};

const runTable = (runs: readonly NodeRun[]) =>
  table(runs, {
    ID: (run) => run.id,
    NODE: ({ nodeName, nodeInstanceId }) => `${nodeName} (${nodeInstanceId})`,
    SESSION: ({ sessionId }) => sessionId,
    STATE: ({ state }) => state,
    ATTEMPT: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}`,
    RETRYABLE: ({ retryable }) => retryable,
    CREATED: ({ createdAt }) => time(createdAt),
    DETAILS: ({ statusDetails }) => statusDetails,
  });

/** One after the other: a refusal names its run and stops the rest. */
async function forEach(cli: Cli, ids: readonly string[], action: 'retry' | 'cancel'): Promise<void> {
  const platform = await cli.connect();
  const done: NodeRun[] = [];
  try {
    for (const id of ids.map(uuid)) {
      done.push(await platform.call(`POST /api/v2/admin/node-runs/{id}/${action}`, { params: { id } }));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, requestId } = error;
    throw new ApiError({ status, message: `${ids[done.length]}: ${message}`, requestId });
  } finally {
    if (done.length > 0) cli.print(done, () => runTable(done));
  }
}

export const addExplain: AddCommand = (program, cli) => {
  program
    .command('explain')
    .description('Tells in one sentence why a node is not running, or not any more.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .addHelpText('after', examples('explain 102', 'explain 102 --json'))
    .action(async (node: number) => {
      const found = await (await cli.connect()).call('GET /api/v2/node-instance/{nodeInstanceId}/explain', {
        params: { nodeInstanceId: node },
      });
      const { statusDetails, lastProcessed, openRun, heldBy, lastRun } = found.facts;
      cli.print(found, () =>
        [
          found.sentence,
          '',
          facts({
            Node: `${found.nodeName} (${found.nodeTemplate}) of session ${found.sessionId}`,
            State: `${found.state}${statusDetails ? `: ${statusDetails}` : ''}`,
            'Last processed': time(lastProcessed),
            'Open run': openRun && `${openRun.id} (${openRun.state}, ${openRun.tasksAhead} ahead of it)`,
            'Held by': heldBy?.instanceId,
            'Last run': lastRun && `${lastRun.id} (${lastRun.outcome})`,
          }),
        ].join('\n'),
      );
    });
};
