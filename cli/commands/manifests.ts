/** `sdp manifests`: registration of your own runners (contract: Runner administration). */
import { type AddCommand, examples, readDocument } from '../cli.ts';

type ManifestRoute = 'POST /api/v2/admin/runner-manifests' | 'POST /api/v2/runner/manifests/validate';

export const addManifests: AddCommand = (program, cli) => {
  const manifests = program.command('manifests').description('Runner manifests.');
  const post = async (route: ManifestRoute, file: string, done: string) => {
    const document = await readDocument(file);
    const reply = await (await cli.connect()).call(route, { document });
    cli.print(reply, () =>
      [
        `${done} runner types ${listed(reply.runnerTypes)}; node templates ${listed(reply.templates)}.`,
        ...reply.warnings.map(({ path, message }) => `  Warning: ${path}: ${message}`),
      ].join('\n'),
    );
  };
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

const listed = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));
