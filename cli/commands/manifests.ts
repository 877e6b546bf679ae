/** `sdp manifests`: registration of your own runners (contract: Runner administration). */
import { type AddCommand, examples, parseDocument, readDocument } from '../cli.ts';
import { table, time } from '../output.ts';

type ManifestRoute = 'POST /api/v2/admin/runner-manifests' | 'POST /api/v2/runner/manifests/validate';

export const addManifests: AddCommand = (program, cli) => {
  const manifests = program.command('manifests').description('Runner manifests.');
  const post = async (route: ManifestRoute, file: string, done: string) => {
    const document = await readDocument(file);
    parseDocument(document, file);
    const reply = await (await cli.connect()).call(route, { document });
    cli.print(reply, () =>
      [
        `${done} runner types ${listed(reply.runnerTypes)}; node templates ${listed(reply.templates)}.`,
        ...reply.warnings.map(({ path, message }) => `  Warning: ${path}: ${message}`),
      ].join('\n'),
    );
  };
  addList(manifests, cli);
  manifests
    .command('publish')
    .description('Publishes a manifest completely, or lists every fault and publishes nothing.')
    .argument('<file>', 'a JSON file; - reads standard input')
    .addHelpText('after', examples('manifests publish lap-tools.json'))
    .action((file: string) => post('POST /api/v2/admin/runner-manifests', file, 'Published:'));
  manifests
    .command('validate')
    .description('Validates a manifest without publishing it.')
    .argument('<file>', 'a JSON file; - reads standard input')
    .addHelpText('after', examples('manifests validate lap-tools.json'))
    .action((file: string) => post('POST /api/v2/runner/manifests/validate', file, 'Valid:'));
};

const addList: AddCommand = (manifests, cli) => {
  manifests
    .command('list')
    .description('Lists what is published: features with their runner types and node templates.')
    .option('--feature <name>', 'only this feature; with --json its manifest, too')
    .addHelpText('after', examples('manifests list', 'manifests list --feature lap-tools --json'))
    .action(async ({ feature }: { feature?: string }) => {
      const platform = await cli.connect();
      const all = await platform.call('GET /api/v2/admin/runner-manifests', { query: { feature } });
      const found = feature === undefined ? all : all.filter(({ name }) => name === feature);
      if (found.length === 0) return cli.print(found, () => 'Nothing is published.');
      cli.print(found, () =>
        table(found, {
          FEATURE: ({ name }) => name,
          VERSION: ({ version }) => version,
          'RUNNER TYPES': ({ runnerTypes }) => listed(runnerTypes.map(nameOf)),
          'NODE TEMPLATES': ({ nodeTemplates }) => listed(nodeTemplates.map(nameOf)),
          PUBLISHED: ({ publishedAt }) => time(publishedAt),
        }),
      );
    });
};

const nameOf = ({ name, retired }: { readonly name: string; readonly retired: boolean }) =>
  retired ? `${name} (retired)` : name;
const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));
