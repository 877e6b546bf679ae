/** `sdp rejected` and `sdp reprocess`: the inputs that a node rejected, and runs over earlier inputs. */
import { type AddCommand, type Cli, examples, id } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { pageNote, table, time } from '../output.ts';

const path = '/api/v2/node-instance/{nodeInstanceId}';
/** The most inputs of one reprocess. */
const maxInputs = 1_000;
/** The inputs on one page of the list. */
const pageSize = 100;

export const addReprocess: AddCommand = (program, cli) => {
  program
    .command('rejected')
    .description('Lists the inputs that a node has rejected, with the reason.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .option('--page <number>', 'the page, from 1', id, 1)
    .addHelpText('after', examples('rejected 102'))
    .action((nodeInstanceId: number, { page }: { page: number }) => listRejected(cli, nodeInstanceId, page));
  program
    .command('reprocess')
    .description('Runs a node again over its inputs, as its manifest says, or over some of them alone.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .option('--inputs <ids...>', 'these outputs of its parents alone', anotherId)
    .option('--rejected', 'the inputs alone that the node has rejected')
    .addHelpText(
      'after',
      examples('reprocess 102', 'reprocess 102 --inputs 35 36', 'reprocess 102 --rejected'),
    )
    .action((nodeInstanceId: number, options: ReprocessOptions) => reprocess(cli, nodeInstanceId, options));
};

const anotherId = (value: string, before: readonly number[] = []) => [...before, id(value)];

interface ReprocessOptions {
  readonly inputs?: readonly number[];
  readonly rejected?: boolean;
}

async function listRejected(cli: Cli, nodeInstanceId: number, page: number): Promise<void> {
  const platform = await cli.connect();
  const found = await platform.call(`GET ${path}/rejected-inputs`, {
    params: { nodeInstanceId },
    query: { page },
  });
  if (found.totalCount === 0) return cli.print(found, () => 'No rejected inputs.');
  cli.print(found, () => {
    const rows = table(found.rejectedInputs, {
      INPUT: ({ outputId }) => outputId,
      NODE: ({ nodeName }) => nodeName,
      FILE: ({ fileName, outputIdentifier }) => fileName ?? outputIdentifier,
      REASON: ({ category, reason }) => `${category}: ${reason}`,
      RUN: ({ runId }) => runId,
      REJECTED: ({ rejectedAt }) => time(rejectedAt),
    });
    return `${rows}${pageNote(found)}`;
  });
}

async function reprocess(cli: Cli, nodeInstanceId: number, options: ReprocessOptions): Promise<void> {
  const { inputs, rejected = false } = options;
  if (rejected && inputs !== undefined) throw new UsageError('Give either --inputs or --rejected.');
  const chosen = rejected ? await rejectedInputs(cli, nodeInstanceId) : inputs;
  if (chosen?.length === 0) throw new Error('The node has no rejected inputs.');
  const platform = await cli.connect();
  const reply = await platform.call(`POST ${path}/reprocess`, {
    params: { nodeInstanceId },
    body: chosen === undefined ? {} : { inputs: chosen },
  });
  cli.print(reply, () => reply.message);
}

async function rejectedInputs(cli: Cli, nodeInstanceId: number): Promise<number[]> {
  const platform = await cli.connect();
  const ids = new Set<number>();
  for (let page = 1; ; page++) {
    const found = await platform.call(`GET ${path}/rejected-inputs`, {
      params: { nodeInstanceId },
      query: { page, pageSize },
    });
    if (found.totalCount > maxInputs) {
      throw new Error(
        `The node has ${found.totalCount} rejected inputs: name at most ${maxInputs} of them with --inputs.`,
      );
    }
    for (const { outputId } of found.rejectedInputs) ids.add(outputId);
    if (page >= found.totalPages) return [...ids];
  }
}
