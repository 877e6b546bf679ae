/** `sdp templates`: session templates as files (contract: Template definition file). */
import type { SessionTemplate, SessionTemplateChanges } from '../../client/types.ts';
import { type AddCommand, examples, id, parseDocument, readDocument, wholeNumber } from '../cli.ts';
import { findSessionTemplate } from '../find-by-name.ts';
import { facts, pageNote, table, time } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';

export const addTemplates: AddCommand = (program, cli) => {
  const templates = program.command('templates').description('Session templates.');
  addImport(templates, cli);
  addValidate(templates, cli);
  addReading(templates, cli);
  addVersions(templates, cli);
};

const addImport: AddCommand = (templates, cli) => {
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
      const { id, name, created, version, changed } = made;
      const done = created ? 'Created' : changed ? 'Updated' : 'Unchanged:';
      cli.print(made, () => `${done} session template ${id} (${name}): version ${version}.`);
    });
};

const addValidate: AddCommand = (templates, cli) => {
  templates
    .command('validate')
    .alias('check')
    .description(
      'Validates a template definition file without importing it; every fault is listed with its path.',
    )
    .argument('<file>', 'a JSON file; - reads standard input')
    .option('--update-if-exists', 'as an update of the template of this name')
    .addHelpText(
      'after',
      examples('templates validate laps.json', 'templates validate --update-if-exists laps.json'),
    )
    .action(async (file: string, options: { updateIfExists?: boolean }) => {
      const document = prepare(await readDocument(file), file, options.updateIfExists === true);
      const platform = await cli.connect();
      const valid = await platform.call('POST /api/v2/admin/session-templates/validate', { document });
      const { name, created, version, changed } = valid;
      const would = created ? 'create' : changed ? 'update' : 'not change';
      cli.print(valid, () => `Valid: an import would ${would} session template ${name}: version ${version}.`);
    });
};

const addReading: AddCommand = (templates, cli) => {
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
  templates
    .command('show')
    .description('Shows a session template and its nodes, or one of its versions as a definition file.')
    .argument('<template>', 'name or id of the session template')
    .option('--at <version>', 'the definition file of this version', id)
    .option('--definition', 'the definition file of the newest version')
    .addHelpText(
      'after',
      examples('templates show lap-analysis', 'templates show lap-analysis --at 2 >laps.json'),
    )
    .action(async (named: string, { at, definition }: { at?: number; definition?: boolean }) => {
      const platform = await cli.connect();
      const { id: sessionTemplateId } = await findSessionTemplate(platform, named);
      const params = { sessionTemplateId };
      if (at === undefined && definition !== true) {
        const found = await platform.call('GET /api/v2/session/session_templates/{sessionTemplateId}', {
          params,
        });
        cli.print(found, () => described(found));
        return;
      }
      const version = at ?? (await newestOf(platform, sessionTemplateId));
      const found = await platform.call(
        'GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}',
        { params: { ...params, version } },
      );
      cli.print(found.definition, () => JSON.stringify(found.definition, null, 2));
    });
};

const addVersions: AddCommand = (templates, cli) => {
  templates
    .command('versions')
    .description('Lists the versions of a session template, newest first: who made each, and when.')
    .argument('<template>', 'name or id of the session template')
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'versions per page', wholeNumber(1, 100))
    .addHelpText('after', examples('templates versions lap-analysis'))
    .action(async (named: string, query: { page?: number; pageSize?: number }) => {
      const platform = await cli.connect();
      const { id: sessionTemplateId } = await findSessionTemplate(platform, named);
      const found = await platform.call(
        'GET /api/v2/session/session_templates/{sessionTemplateId}/versions',
        { params: { sessionTemplateId }, query },
      );
      cli.print(
        found,
        () =>
          table(found.versions, {
            VERSION: ({ version }) => version,
            LABEL: ({ templateVersion }) => templateVersion,
            NODES: ({ nodes }) => nodes,
            CREATED: ({ createdAt }) => time(createdAt),
            BY: ({ createdBy }) => (createdBy === null ? 'the platform' : (createdBy.name ?? createdBy.id)),
          }) + pageNote(found),
      );
    });
  templates
    .command('diff')
    .description('Shows what a version of a session template changed.')
    .argument('<template>', 'name or id of the session template')
    .option('--to <version>', 'the later version (default: the newest)', id)
    .option('--from <version>', 'the earlier version (default: the one before)', id)
    .option('--from-template <template>', 'the template of the earlier version (default: the same)')
    .addHelpText(
      'after',
      examples('templates diff lap-analysis', 'templates diff lap-analysis --from 1 --to 3'),
    )
    .action(async (named: string, { to, from, fromTemplate }: DiffOptions) => {
      const platform = await cli.connect();
      const { id: sessionTemplateId, name } = await findSessionTemplate(platform, named);
      const other = fromTemplate === undefined ? null : await findSessionTemplate(platform, fromTemplate);
      const version = to ?? (await newestOf(platform, sessionTemplateId));
      const changes = await platform.call(
        'GET /api/v2/session/session_templates/{sessionTemplateId}/versions/{version}/changes',
        { params: { sessionTemplateId, version }, query: { since: from, sinceTemplateId: other?.id } },
      );
      cli.print(changes, () => differences(changes, name, other?.name ?? name));
    });
};

interface DiffOptions {
  readonly to?: number;
  readonly from?: number;
  readonly fromTemplate?: string;
}

async function newestOf(platform: PlatformClient, sessionTemplateId: number): Promise<number> {
  const { versions } = await platform.call(
    'GET /api/v2/session/session_templates/{sessionTemplateId}/versions',
    { params: { sessionTemplateId }, query: { pageSize: 1 } },
  );
  return versions[0]?.version ?? 1;
}

const described = ({ id: templateId, name, description, nodes }: SessionTemplate) =>
  [
    facts({ Template: `${name} (${templateId})`, Description: description }),
    '',
    table(nodes, {
      NODE: (node) => node.name,
      'NODE TEMPLATE': ({ nodeTemplateName }) => nodeTemplateName,
      TYPE: ({ nodeTemplateType }) => nodeTemplateType,
      PARENTS: ({ parentNames }) => parentNames.join(', '),
      CONFIGURATION: ({ defaultConfiguration }) => defaultConfiguration,
    }),
  ].join('\n');

function differences({ version, since, fields, nodes }: SessionTemplateChanges, name: string, of: string) {
  const title =
    since === null
      ? `${name}: version ${version} is the first.`
      : `${name}: version ${version}, since version ${since.version}${of === name ? '' : ` of ${of}`}.`;
  const rows = [
    ...fields.map(({ field, ...sides }) => ({ what: field, kind: 'template', ...sides })),
    ...nodes.map(({ node, ...rest }) => ({ what: node, ...rest })),
  ];
  if (rows.length === 0) return `${title} Nothing differs.`;
  return [
    title,
    '',
    table(rows, {
      WHAT: ({ what }) => what,
      CHANGE: ({ kind }) => kind,
      BEFORE: ({ before }) => (before ? JSON.stringify(before) : null),
      AFTER: ({ after }) => (after ? JSON.stringify(after) : null),
    }),
  ].join('\n');
}

/** The platform reports all faults of a document that is JSON. */
function prepare(document: string, file: string, updateIfExists: boolean): string {
  const parsed = parseDocument(document, file);
  if (!updateIfExists) return document;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return document;
  return JSON.stringify({ ...parsed, updateIfExists: true });
}
