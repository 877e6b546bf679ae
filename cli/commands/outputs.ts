/** `sdp outputs` and `sdp reports`: what came of it. */
import { Option } from 'commander';
import { type AddCommand, examples, id, uuid, withQuery } from '../cli.ts';
import { download } from '../download.ts';
import { bytes, facts, table, time } from '../output.ts';

interface Output {
  readonly id: number;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: string;
}
interface Lineage {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sessionId: string;
  readonly nodeName: string;
  readonly nodeInstanceId: number;
  readonly nodeTemplate: { readonly name: string; readonly featureVersion: string | null };
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: string;
  readonly source: string;
  readonly run: { readonly id: string; readonly attempt: number; readonly reason: string } | null;
  readonly runner: { readonly instanceId: string; readonly version: string | null } | null;
  readonly inputs: ReadonlyArray<{
    readonly outputId: number;
    readonly nodeName: string;
    readonly outputIdentifier: string;
    readonly sizeBytes: number;
    readonly isNew: boolean;
  }>;
}

export const addOutputs: AddCommand = (program, cli) => {
  const path = '/api/v2/node-instance';
  const outputs = program.command('outputs').description('Outputs of nodes.');
  outputs
    .command('list')
    .description('Lists the outputs of a node instance in the order of their creation.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .addHelpText('after', examples('outputs list 102'))
    .action(async (node: number) => {
      const found = await (await cli.connect()).get<Output[]>(`${path}/${node}/outputs`);
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
      const saved = await download(
        await cli.connect(),
        `${path}/outputs/${output}/data`,
        out,
        `output-${output}`,
      );
      if (out !== '-') cli.print(saved, () => '');
    });
  outputs
    .command('lineage')
    .description('Tells where an output comes from: run, runner and inputs.')
    .argument('<outputId>', 'the output', id)
    .addHelpText('after', examples('outputs lineage 502'))
    .action(async (output: number) => {
      const found = await (await cli.connect()).get<Lineage>(`${path}/outputs/${output}/lineage`);
      cli.print(found, () => lineageText(found));
    });
};

const lineageText = (found: Lineage) =>
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
  readonly format?: string;
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly out?: string;
}

export const addReports: AddCommand = (program, cli) => {
  const path = '/api/v2/dashboard/reports';
  const reports = program.command('reports').description('Reports.');
  reports
    .command('list')
    .description('Lists all reports.')
    .addHelpText('after', examples('reports list'))
    .action(async () => {
      const found = await (await cli.connect()).get<{
        reports: Array<{ key: string; name: string }>;
        defaultReport: string;
      }>(`${path}/catalog`);
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
      const query = withQuery(`${path}/download`, { option: key, userId: user, ...rest });
      const saved = await download(await cli.connect(), query, out, `report.${rest.format ?? 'xlsx'}`);
      if (out !== '-') cli.print(saved, () => '');
    });
};
