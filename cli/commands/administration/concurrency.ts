/** `sdp concurrency`: how many tasks of a node template or runner type are held at once. */
import { Option } from 'commander';
import { type AddCommand, examples, wholeNumber } from '../../cli.ts';
import { table, time } from '../../output.ts';

const places = wholeNumber(0, 100_000);
const kindOption = () =>
  new Option('--kind <kind>', 'when a node template and a runner type have the same name').choices([
    'nodeTemplate',
    'runnerType',
  ] as const);

interface Limits {
  readonly max?: number;
  readonly perProject?: number;
  readonly perSession?: number;
  readonly kind?: 'nodeTemplate' | 'runnerType';
}

export const addConcurrency: AddCommand = (program, cli) => {
  const concurrency = program
    .command('concurrency')
    .description('How many tasks of a node template or runner type are held at once.');
  concurrency
    .command('list')
    .description('Lists all limits.')
    .addHelpText('after', examples('concurrency list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/concurrency');
      cli.print(found, () =>
        table(found.limits, {
          NAME: ({ name }) => name,
          KIND: ({ kind }) => (kind === 'nodeTemplate' ? 'node template' : 'runner type'),
          MAX: ({ max }) => max,
          'PER PROJECT': ({ perProject }) => perProject,
          'PER SESSION': ({ perSession }) => perSession,
          HELD: ({ held }) => held,
          BY: ({ chosen }) => (chosen === null ? 'manifest' : 'operator'),
          CHANGED: ({ changedAt }) => time(changedAt),
        }),
      );
    });
  concurrency
    .command('set')
    .description('Sets a limit, in place of that of the manifest.')
    .argument('<name>', 'a node template or runner type')
    .option('--max <number>', 'in all; 0: no task is claimed (default: any number)', places)
    .option('--per-project <number>', 'of one project', places)
    .option('--per-session <number>', 'of one session', places)
    .addOption(kindOption())
    .addHelpText('after', examples('concurrency set lap-splitter --max 5 --per-project 2'))
    .action(async (name: string, { max, kind, ...rest }: Limits) => {
      const body = { max: max ?? null, kind, ...rest };
      const platform = await cli.connect();
      const set = await platform.call('PUT /api/v2/admin/concurrency/{name}', { params: { name }, body });
      cli.print(set, () => `${set.name}: ${set.max ?? 'any number'} at once; ${set.held} held now.`);
    });
  concurrency
    .command('clear')
    .description('Removes a limit: that of the manifest applies again.')
    .argument('<name>', 'a node template or runner type')
    .addOption(kindOption())
    .addHelpText('after', examples('concurrency clear lap-splitter'))
    .action(async (name: string, { kind }: Limits) => {
      const platform = await cli.connect();
      await platform.call('DELETE /api/v2/admin/concurrency/{name}', { params: { name }, query: { kind } });
      cli.print({ name, cleared: true }, () => 'The manifest holds.');
    });
};
