/** `sdp outputs` and `sdp reports`: the results. */
import { Option } from 'commander';
import type { Query } from '../../client/api-client.ts';
import { ApiError } from '../../client/errors.ts';
import type { OutputLineage } from '../../client/types.ts';
import { type AddCommand, examples, id, uuid } from '../cli.ts';
import { download, plainBytes } from '../download.ts';
import { bytes, facts, table, time } from '../output.ts';

export const addOutputs: AddCommand = (program, cli) => {
  const outputs = program.command('outputs').description('Outputs of nodes.');
  outputs
    .command('list')
    .description('Lists the outputs of a node instance in the order of their creation.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .addHelpText('after', examples('outputs list 102'))
    .action(async (node: number) => {
      const platform = await cli.connect();
      const params = { nodeInstanceId: node };
      const found = await platform
        .call('GET /api/v2/node-instance/{nodeInstanceId}/outputs', { params })
        .catch(async (error) => {
          if (!(error instanceof ApiError) || error.status !== 404) throw error;
          // The route gives the same answer when there is no such node. If this check fails, that answer stays.
          await platform
            .call('GET /api/v2/node-instance/{nodeInstanceId}/explain', { params })
            .catch((other) => {
              throw other instanceof ApiError && other.status === 404 ? other : error;
            });
          return [];
        });
      if (found.length === 0) return cli.print(found, () => 'No outputs yet.');
      cli.print(found, () =>
        table(found, {
          ID: (output) => output.id,
          IDENTIFIER: ({ outputIdentifier }) => outputIdentifier,
          TYPE: ({ contentType }) => contentType,
          SIZE: ({ sizeBytes }) => bytes(sizeBytes),
          CREATED: ({ createdAt }) => time(createdAt),
        }),
      );
    });
  outputs
    .command('download')
    .description('Saves the bytes of an output, and checks that they are whole.')
    .argument('<outputId>', 'the output', id)
    .option('-o, --out <file>', 'name of the file; - writes to the standard output')
    .addHelpText('after', examples('outputs download 502', 'outputs download 502 -o - | head'))
    .action(async (output: number, { out }: { out?: string }) => {
      const platform = await cli.connect();
      const bytes = await platform.open('GET /api/v2/node-instance/outputs/{nodeOutputId}/data', {
        params: { nodeOutputId: output },
        headers: plainBytes,
      });
      const saved = await download(bytes, out, `output-${output}`);
      if (out !== '-') cli.print(saved, () => '');
    });
  outputs
    .command('lineage')
    .description('Tells where an output comes from: run, runner and inputs.')
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
    .description('Saves a report as a file.')
    .argument('[key]', 'the report (default: the default report)')
    .addOption(new Option('--format <format>', 'form of the file').choices(['xlsx', 'csv']))
    .option('--from <time>', 'only what is of this time or later')
    .option('--to <time>', 'only what is up to this time; a date counts to its end')
    .option('--user <id>', 'only rows of this user', uuid)
    .option('-o, --out <file>', 'name of the file; - writes to the standard output')
    .addHelpText('after', examples('reports download', 'reports download session-list --format csv -o -'))
    .action(async (key: string | undefined, { user, out, ...rest }: ReportOptions) => {
      const platform = await cli.connect();
      const report = await platform.open('GET /api/v2/dashboard/reports/download', {
        query: { option: key, userId: user, ...rest },
        headers: plainBytes,
      });
      const saved = await download(report, out, `report.${rest.format ?? 'xlsx'}`);
      if (out !== '-') cli.print(saved, () => '');
    });
};
