/** `sdp templates`: session templates as files (contract: Template definition file). */
import { type AddCommand, examples, readDocument } from '../cli.ts';
import { table } from '../output.ts';

export const addTemplates: AddCommand = (program, cli) => {
  const templates = program.command('templates').description('Session templates.');
  templates
    .command('import')
    .description('Imports a template definition file; every fault is listed with its path.')
    .argument('<file>', 'a JSON file; - reads standard input')
    .option('--update-if-exists', 'update the template of this name when its graph is the same')
    .addHelpText(
      'after',
      examples('templates import laps.json', 'templates import --update-if-exists - <laps.json'),
    )
    .action(async (file: string, options: { updateIfExists?: boolean }) => {
      const document = prepare(await readDocument(file), file, options.updateIfExists === true);
      const platform = await cli.connect();
      const made = await platform.call('POST /api/v2/admin/session-templates', { document });
      const { id, name, created } = made;
      cli.print(made, () => `${created ? 'Created' : 'Updated'} session template ${id} (${name}).`);
    });
  templates
    .command('list')
    .description('Lists all session templates: id, name and description.')
    .addHelpText('after', examples('templates list', 'templates list --json'))
    .action(async () => {
      const platform = await cli.connect();
      const found = await platform.call('GET /api/v2/session/session_templates');
      cli.print(found, () =>
        table(found, { ID: ({ id }) => id, NAME: ({ name }) => name, DESCRIPTION: (one) => one.description }),
      );
    });
};

/** The document is sent unchanged, so that the platform reports all of its faults. */
function prepare(document: string, file: string, updateIfExists: boolean): string {
  if (!updateIfExists) return document;
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return document;
  return JSON.stringify({ ...parsed, updateIfExists: true });
}
