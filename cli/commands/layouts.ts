/** `sdp layouts`: saved layouts of dashboards, as files that can be kept under version control. */
import { type AddCommand, examples, id, parseDocument, readDocument } from '../cli.ts';
import { table, time } from '../output.ts';

export const addLayouts: AddCommand = (program, cli) => {
  const layouts = program.command('layouts').description('Saved layouts of dashboards.');
  layouts
    .command('list')
    .description('Lists your layouts and those that others share.')
    .addHelpText('after', examples('layouts list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/dashboard/layouts');
      cli.print(found, () =>
        table(found.layouts, {
          ID: (one) => one.id,
          NAME: ({ name }) => name,
          SCOPE: ({ scope }) => scope,
          PROJECT: ({ projectId }) => projectId,
          TEMPLATE: ({ sessionTemplateId }) => sessionTemplateId,
          UPDATED: ({ updatedAt }) => time(updatedAt),
        }),
      );
    });
  layouts
    .command('get')
    .description('Prints a layout as `layouts put` takes it.')
    .argument('<id>', 'id of the layout', id)
    .addHelpText('after', examples('layouts get 7 >race-engineer.json'))
    .action(async (layout: number) => {
      const platform = await cli.connect();
      const found = await platform.call('GET /api/v2/dashboard/layouts/{id}', { params: { id: layout } });
      const { name, scope, projectId, sessionTemplateId } = found;
      const document = { name, scope, projectId, sessionTemplateId, layout: found.layout };
      cli.print(document, () => JSON.stringify(document, null, 2));
    });
  addSaving(layouts, cli);
};

const addSaving: AddCommand = (layouts, cli) => {
  layouts
    .command('put')
    .description('Creates a layout from a file, or replaces one.')
    .argument('<file>', 'JSON; - reads standard input')
    .option('--id <number>', 'the layout that is replaced', id)
    .addHelpText('after', examples('layouts put race-engineer.json', 'layouts put race-engineer.json --id 7'))
    .action(async (file: string, options: { id?: number }) => {
      // The platform checks what is in it.
      const body = parseDocument(await readDocument(file), file) as never;
      const platform = await cli.connect();
      const saved =
        options.id === undefined
          ? await platform.call('POST /api/v2/dashboard/layouts', { body })
          : await platform.call('PUT /api/v2/dashboard/layouts/{id}', { params: { id: options.id }, body });
      cli.print(saved, () => `Saved ${saved.name} as layout ${saved.id}.`);
    });
  layouts
    .command('delete')
    .description('Deletes a layout.')
    .argument('<id>', 'id of the layout', id)
    .addHelpText('after', examples('layouts delete 7'))
    .action(async (layout: number) => {
      await (await cli.connect()).call('DELETE /api/v2/dashboard/layouts/{id}', { params: { id: layout } });
      cli.print({ id: layout, deleted: true }, () => 'Deleted.');
    });
};
