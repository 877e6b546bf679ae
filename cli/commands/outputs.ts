/** `sdp outputs` and `sdp reports`: the results. */
import { Option } from 'commander';
import type { Query } from '../../client/api-client.ts';
import { ApiError } from '../../client/errors.ts';
import { newestOutputs, outputPages } from '../../client/session-outputs.ts';
import type { ListedOutput, NodeOutput, OutputLineage } from '../../client/types.ts';
import { type AddCommand, type Cli, examples, id, uuid, wholeNumber } from '../cli.ts';
import { download, downloadOutput, plainBytes } from '../download.ts';
import { UsageError } from '../errors.ts';
import { bytes, type Columns, facts, pagedTable, table, time } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';
import { Progress } from '../progress.ts';
import { addReportSchedules } from './report-schedules.ts';

/** A session by its id, a node instance by its number. */
const sessionOrNode = (value: string) => (/^\d+$/.test(value) ? id(value) : uuid(value));

export const addOutputs: AddCommand = (program, cli) => {
  const outputs = program.command('outputs').description('Outputs of nodes.');
  addList(outputs, cli);
  addBytes(outputs, cli);
};

interface ListOptions {
  readonly search?: string;
  readonly limit?: number;
  readonly identifier?: string;
}

const addList: AddCommand = (outputs, cli) => {
  outputs
    .command('list')
    .description(
      'Lists the outputs of a session, newest first, or of a node instance in the order of their creation.',
    )
    .argument('<place>', 'id of a session, or of a node instance', sessionOrNode)
    .option('--search <text>', 'of a session: only outputs with this in their name')
    .option('--limit <count>', 'of a session: only so many, the newest', wholeNumber(1, 1_000_000))
    .option('--identifier <text>', 'of a node instance: only the output with this identifier')
    .addHelpText(
      'after',
      examples(
        'outputs list 102',
        'outputs list 102 --identifier lap-12',
        'outputs list 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --search lap --limit 20',
      ),
    )
    .action(async (place: string | number, { search, limit, identifier }: ListOptions) => {
      const ofSession = search === undefined ? '--limit' : '--search';
      if (typeof place === 'number' && (search !== undefined || limit !== undefined))
        throw new UsageError(`${ofSession} needs a session, and ${place} is the id of a node instance.`);
      if (typeof place === 'string' && identifier !== undefined)
        throw new UsageError(`--identifier needs a node instance, and ${place} is the id of a session.`);
      const platform = await cli.connect();
      if (typeof place === 'string')
        return await listSession(cli, platform, place, limit ?? Number.POSITIVE_INFINITY, search);
      const found = await outputsOf(platform, place, identifier);
      if (found.length > 0) return cli.print(found, () => table(found, outputColumns));
      cli.print(found, () => (identifier === undefined ? 'No outputs yet.' : `No output ${identifier}.`));
    });
};

const outputColumns: Columns<NodeOutput> = {
  ID: (output) => output.id,
  IDENTIFIER: ({ outputIdentifier }) => outputIdentifier,
  TYPE: ({ contentType }) => contentType,
  SIZE: ({ sizeBytes }) => bytes(sizeBytes),
  CREATED: ({ createdAt }) => time(createdAt),
};

const sessionColumns: Columns<ListedOutput> = {
  ID: (output) => output.id,
  NODE: ({ nodeInstanceId }) => nodeInstanceId,
  ...outputColumns,
};

/** A person sees each page when it comes: a session may have 100,000 outputs. A program gets one document. */
async function listSession(
  cli: Cli,
  platform: PlatformClient,
  sessionId: string,
  count: number,
  search: string | undefined,
): Promise<void> {
  if (cli.isJson) {
    const { outputs } = await newestOutputs(platform, sessionId, count, { search });
    return cli.print(outputs, () => '');
  }
  const rowsOf = pagedTable(sessionColumns);
  let isEmpty = true;
  for await (const { outputs } of outputPages(platform, sessionId, count, { search })) {
    if (outputs.length === 0) continue;
    isEmpty = false;
    cli.print(outputs, () => rowsOf(outputs));
  }
  if (isEmpty)
    cli.print([], () => (search === undefined ? 'No outputs yet.' : `No output has ${search} in its name.`));
}

const addBytes: AddCommand = (outputs, cli) => {
  outputs
    .command('latest')
    .description('Shows the newest output of a node instance, or saves it.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .option('--save <file>', 'name of the file, or a folder; - writes to standard output')
    .addHelpText('after', examples('outputs latest 102', 'outputs latest 102 --save laps.csv'))
    .action(async (node: number, { save }: { save?: string }) => {
      const platform = await cli.connect();
      const params = { nodeInstanceId: node };
      const { sessionId } = await platform.call('GET /api/v2/node-instance/{nodeInstanceId}/explain', {
        params,
      });
      const {
        outputs: [newest],
      } = await newestOutputs(platform, sessionId, 1, { nodeInstanceId: node });
      if (newest === undefined) throw new ApiError({ status: 404, message: `Node ${node} has no output.` });
      if (save === undefined) return cli.print(newest, () => outputFacts(newest));
      const saved = await downloadOutput(platform, newest.id, save, new Progress(cli.isJson));
      if (save !== '-') cli.print({ ...newest, ...saved }, () => '');
    });
  outputs
    .command('download')
    .description('Downloads an output and verifies its checksum.')
    .argument('<outputId>', 'the output', id)
    .option('-o, --out <file>', 'name of the file; - writes to standard output')
    .addHelpText('after', examples('outputs download 502', 'outputs download 502 -o - | head'))
    .action(async (output: number, { out }: { out?: string }) => {
      const progress = new Progress(cli.isJson);
      const saved = await downloadOutput(await cli.connect(), output, out, progress);
      if (out !== '-') cli.print(saved, () => '');
    });
  outputs
    .command('lineage')
    .description('Shows the lineage of an output: run, runner and inputs.')
    .argument('<outputId>', 'the output', id)
    .addHelpText('after', examples('outputs lineage 502'))
    .action(async (output: number) => {
      const platform = await cli.connect();
      const found = await platform.call('GET /api/v2/node-instance/outputs/{nodeOutputId}/lineage', {
        params: { nodeOutputId: output },
      });
      cli.print(found, () => lineageText(found));
    });
};

/** The outputs of a node, oldest first. */
async function outputsOf(
  platform: PlatformClient,
  node: number,
  identifier: string | undefined,
): Promise<readonly NodeOutput[]> {
  const params = { nodeInstanceId: node };
  try {
    const query = { identifier };
    return await platform.call('GET /api/v2/node-instance/{nodeInstanceId}/outputs', { params, query });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    // The route gives the same answer when there is no such node. If this check fails, that answer stays.
    await platform.call('GET /api/v2/node-instance/{nodeInstanceId}/explain', { params }).catch((other) => {
      throw other instanceof ApiError && other.status === 404 ? other : error;
    });
    return [];
  }
}

const outputFacts = (output: ListedOutput) =>
  facts({
    Output: `${output.id} (${output.outputIdentifier}), ${bytes(output.sizeBytes)}`,
    Type: output.contentType,
    'SHA-256': output.sha256,
    Created: time(output.createdAt),
    Metadata: output.metadata && JSON.stringify(output.metadata),
  });

const lineageText = (found: OutputLineage) =>
  [
    facts({
      Output: `${found.outputId} (${found.outputIdentifier}), ${bytes(found.sizeBytes)}`,
      'SHA-256': found.sha256,
      Created: time(found.createdAt),
      Node: `${found.nodeName} (${found.nodeInstanceId}) of session ${found.sessionId}`,
      Template: `${found.nodeTemplate.name} ${found.nodeTemplate.featureVersion ?? ''}`.trim(),
      From: found.run === null ? found.source : `run ${found.run.id}, attempt ${found.run.attempt}`,
      Runner: found.runner && `${found.runner.instanceId} ${found.runner.version ?? ''}`.trim(),
    }),
    ...(found.inputs.length === 0
      ? []
      : [
          '',
          table(found.inputs, {
            INPUT: ({ outputId }) => outputId,
            NODE: ({ nodeName }) => nodeName,
            IDENTIFIER: ({ outputIdentifier }) => outputIdentifier,
            SIZE: ({ sizeBytes }) => bytes(sizeBytes),
            NEW: ({ isNew }) => isNew,
          }),
        ]),
  ].join('\n');

interface ReportOptions {
  readonly format?: Query<'GET /api/v2/dashboard/reports/download'>['format'];
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly out?: string;
}

export const addReports: AddCommand = (program, cli) => {
  const reports = program.command('reports').description('Reports.');
  reports
    .command('list')
    .description('Lists all reports.')
    .addHelpText('after', examples('reports list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/dashboard/reports/catalog');
      cli.print(found, () =>
        table(found.reports, {
          KEY: ({ key }) => key,
          NAME: ({ name }) => name,
          DEFAULT: ({ key }) => key === found.defaultReport,
        }),
      );
    });
  reports
    .command('download')
    .description('Downloads a report.')
    .argument('[key]', 'the report (default: the default report)')
    .addOption(new Option('--format <format>', 'file format').choices(['xlsx', 'csv']))
    .option('--from <time>', 'only data from this time on')
    .option('--to <time>', 'only data up to this time; a date includes the whole day')
    .option('--user <id>', 'only rows of this user', uuid)
    .option('-o, --out <file>', 'name of the file; - writes to standard output')
    .addHelpText('after', examples('reports download', 'reports download session-list --format csv -o -'))
    .action(async (key: string | undefined, { user, out, ...rest }: ReportOptions) => {
      const platform = await cli.connect();
      const report = await platform.open('GET /api/v2/dashboard/reports/download', {
        query: { option: key, userId: user, ...rest },
        headers: plainBytes,
      });
      const name = `report.${rest.format ?? 'xlsx'}`;
      const saved = await download(report, out, name, new Progress(cli.isJson));
      if (out !== '-') cli.print(saved, () => '');
    });
  addReportSchedules(reports, cli);
};
