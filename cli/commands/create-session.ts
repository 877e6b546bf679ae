/** `sdp sessions create`: by the names of project and template. */
import { InvalidArgumentError } from 'commander';
import { defaultSessionName } from '../../client/session-name.ts';
import { type AddCommand, examples } from '../cli.ts';
import { findProject, findSessionTemplate } from '../find-by-name.ts';
import { nodeTable } from '../node-table.ts';
import { localTime } from '../output.ts';

interface NewSession {
  readonly template: string;
  readonly project: string;
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const addCreateSession: AddCommand = (sessions, cli) => {
  sessions
    .command('create')
    .description('Creates a session and shows its nodes.')
    .requiredOption('--template <name>', 'session template, by name or id')
    .requiredOption('--project <name>', 'project, by title or id')
    .option('--name <name>', 'name of the session (default: the template and the time)')
    .option('--metadata <key=value>', 'may be repeated; a value that is JSON keeps its type', keyAndValue)
    .addHelpText(
      'after',
      examples('sessions create --template lap-analysis --project "Course 7" --metadata car=12'),
    )
    .action(async ({ template, project, name, metadata }: NewSession) => {
      const platform = await cli.connect();
      const [{ id: ProjectId }, chosen] = await Promise.all([
        findProject(platform, project),
        findSessionTemplate(platform, template),
      ]);
      const session = await platform.call('POST /session', {
        body: {
          ProjectId,
          SessionTemplateId: chosen.id,
          Name: name || defaultSessionName(chosen.name, localTime(new Date())),
          Metadata: metadata,
        },
      });
      cli.print(
        session,
        () => `Created ${session.id} (${session.name}).\n\n${nodeTable(session.nodeInstances)}`,
      );
    });
};

function keyAndValue(text: string, before: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const [, key, value = ''] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError('It must be like key=value.');
  return { ...before, [key]: parsed(value) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
