/** `sdp runs` and `sdp explain`: what nodes do, and why they do not. */
import { ApiError } from '../../client/errors.ts';
import type { NodeRun } from '../../client/types.ts';
import { type AddCommand, type Cli, examples, id, instant, uuid, wholeNumber } from '../cli.ts';
import { findProject } from '../find-by-name.ts';
import { facts, pageNote, table, time } from '../output.ts';
import { findRun, runArgument, runOrNode } from '../runs/find-run.ts';
import { firstError, runText } from '../runs/run-text.ts';

interface RunFilter {
  readonly session?: string;
  readonly node?: number;
  readonly template?: string;
  readonly project?: string;
  readonly state?: string;
  readonly since?: string;
  readonly page?: number;
  readonly pageSize?: number;
}

export const addRuns: AddCommand = (program, cli) => {
  const runs = program.command('runs').description('Runs of nodes.');
  runs
    .command('list')
    .description('Lists runs, newest first; without --state, --session or --node open and failed runs.')
    .option('--session <id>', 'only runs of this session', uuid)
    .option('--node <id>', 'only runs of this node instance', id)
    .option('--template <name>', 'only runs of this node template')
    .option('--project <name>', 'only runs of this project, by title or id')
    .option('--since <time>', 'only runs made since then: 90m, 12h, 7d, or 2026-03-01T10:00:00Z', instant)
    .option(
      '--state <states>',
      'queued, held, waiting, failed, cancelled, completed, ..., separated by commas',
    )
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'runs per page', wholeNumber(1, 100))
    .addHelpText('after', examples('runs list --state failed,cancelled --since 24h', 'runs list --node 102'))
    .action(async ({ session, node, project, since, ...rest }: RunFilter) => {
      const platform = await cli.connect();
      const projectId = project === undefined ? undefined : (await findProject(platform, project)).id;
      const state = session === undefined && node === undefined ? unsettledStates : undefined;
      const query = { sessionId: session, nodeInstanceId: node, projectId, from: since, state, ...rest };
      const found = await platform.call('GET /api/v2/node-runs', { query });
      cli.print(found, () => runTable(found.nodeRuns) + pageNote(found));
    });
  runs
    .command('show')
    .description('Shows a run: attempts and who ran them, inputs, configuration, outputs, the first error.')
    .argument('<run>', runArgument, runOrNode)
    .addHelpText('after', examples('runs show 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97', 'runs show 102'))
    .action(async (named: string) => {
      const platform = await cli.connect();
      const runId = await findRun(platform, named);
      const run = await platform.call('GET /api/v2/node-runs/{runId}', { params: { runId } });
      if (cli.isJson) return cli.print(run, () => '');
      const error = await firstError(platform, run);
      cli.print(run, () => runText(run, error));
    });
  addOperating(runs, cli);
};

const addOperating: AddCommand = (runs, cli) => {
  runs
    .command('retry')
    .description('Retries failed or cancelled runs.')
    .argument('<runs...>', runsArgument, anotherRun)
    .addHelpText('after', examples('runs retry 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97', 'runs retry 102'))
    .action((named: string[]) => forEach(cli, named, 'retry'));
  runs
    .command('cancel')
    .description('Cancels open runs; the holder of a held run is notified.')
    .argument('<runs...>', runsArgument, anotherRun)
    .addHelpText('after', examples('runs cancel 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97', 'runs cancel 102'))
    .action((named: string[]) => forEach(cli, named, 'cancel'));
};

const runsArgument = 'ids of runs, or of node instances: their newest runs';
const anotherRun = (value: string, before: readonly string[] = []) => [...before, runOrNode(value)];

const unsettledStates = 'queued,held,waiting,failed,cancelled';
const runTable = (runs: readonly NodeRun[]) =>
  table(runs, {
    ID: (run) => run.id,
    NODE: ({ nodeName, nodeInstanceId }) => `${nodeName} (${nodeInstanceId})`,
    SESSION: ({ sessionName }) => sessionName,
    STATE: ({ state }) => state,
    ATTEMPT: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}`,
    RETRYABLE: ({ retryable }) => retryable,
    CREATED: ({ createdAt }) => time(createdAt),
    DETAILS: ({ statusDetails }) => statusDetails,
  });

/** One after the other: a refusal names its run and stops the rest. */
async function forEach(cli: Cli, named: readonly string[], action: 'retry' | 'cancel'): Promise<void> {
  const platform = await cli.connect();
  const done: NodeRun[] = [];
  try {
    for (const one of named) {
      const params = { id: await findRun(platform, one) };
      done.push(await platform.call(`POST /api/v2/admin/node-runs/{id}/${action}`, { params }));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message, requestId } = error;
    throw new ApiError({ status, message: `${named[done.length]}: ${message}`, requestId });
  } finally {
    if (done.length > 0) cli.print(done, () => runTable(done));
  }
}

export const addExplain: AddCommand = (program, cli) => {
  program
    .command('explain')
    .description('Explains in one sentence why a node is not running.')
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
            'Open run': openRun && `${openRun.id} (${openRun.state}, ${openRun.tasksAhead} ahead)`,
            'Held by': heldBy?.instanceId,
            'Last run': lastRun && `${lastRun.id} (${lastRun.outcome})`,
          }),
        ].join('\n'),
      );
    });
};
