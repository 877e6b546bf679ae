/** `sdp projects`: what sessions belong to. */
import type { Project } from '../../client/types.ts';
import { type AddCommand, examples, id, priority, wholeNumber } from '../cli.ts';
import { findSessionTemplate } from '../find-by-name.ts';
import { table, time } from '../output.ts';
import { namesOf } from '../people.ts';

interface NewProject {
  readonly description?: string;
  readonly template?: string;
  readonly queued?: boolean;
  readonly retentionDays?: number;
}

const ownerOf = ({ owner }: Project) => owner.externalPlatformId;

export const addProjects: AddCommand = (program, cli) => {
  const projects = program.command('projects').description('Projects.');
  projects
    .command('list')
    .description('Lists all projects, oldest first.')
    .addHelpText('after', examples('projects list', 'projects list --json'))
    .action(async () => {
      const platform = await cli.connect();
      const found = await platform.call('GET /projects');
      const names = await namesOf(platform, cli.isJson ? [] : found.map(ownerOf));
      cli.print(found, () =>
        table(found, {
          ID: (one) => one.id,
          TITLE: ({ title }) => title,
          OWNER: (one) => names.get(ownerOf(one)) ?? ownerOf(one),
          TEMPLATE: ({ defaultSessionTemplate }) => defaultSessionTemplate?.name,
          QUEUED: ({ queuedIngestion }) => queuedIngestion,
          'RETENTION DAYS': ({ retentionDays }) => retentionDays,
          CREATED: ({ createdAt }) => time(createdAt),
        }),
      );
    });
  projects
    .command('create')
    .description('Creates a project owned by the caller.')
    .argument('<title>')
    .option('--description <text>')
    .option('--template <name>', 'default session template of its sessions, by name or id')
    .option('--queued', 'accept uploads at once and publish them from a queue')
    .option('--retention-days <number>', 'delete sessions after this many days', wholeNumber(1, 36_500))
    .addHelpText('after', examples('projects create "Formation training" --template lap-analysis'))
    .action(async (title: string, options: NewProject) => {
      const platform = await cli.connect();
      const { template } = options;
      const project = await platform.call('POST /projects', {
        body: {
          Title: title,
          Description: options.description,
          DefaultSessionTemplateId:
            template === undefined ? undefined : (await findSessionTemplate(platform, template)).id,
          QueuedIngestion: options.queued,
          RetentionDays: options.retentionDays,
        },
      });
      cli.print(project, () => `Created project ${project.id} (${project.title}).`);
    });
  addPriority(projects, cli);
};

const addPriority: AddCommand = (projects, cli) => {
  projects
    .command('prioritize')
    .description('Moves the queued runs of all its sessions by a minute of waiting for each step.')
    .argument('<id>', 'the project', id)
    .argument('<priority>', '-10 to 10', priority)
    .addHelpText('after', examples('projects prioritize 12 5'))
    .action(async (projectId: number, to: number) => {
      const platform = await cli.connect();
      const params = { id: projectId };
      const { title } = await platform.call('GET /projects/{id}', { params });
      const body = { Title: title, Priority: to };
      const project = await platform.call('PUT /projects/{id}', { params, body });
      cli.print(project, () => `${project.title} has priority ${project.priority}.`);
    });
};
