/** `sdp sessions adopt-template`: a session takes over what a session template says. */
import type { TemplateAdoption } from '../../client/types.ts';
import { type AddCommand, examples, uuid } from '../cli.ts';
import { findSessionTemplate } from '../find-by-name.ts';
import { table } from '../output.ts';

interface AdoptOptions {
  readonly template?: string;
  readonly dryRun?: boolean;
}

export const addAdoptTemplate: AddCommand = (sessions, cli) => {
  sessions
    .command('adopt-template')
    .description('Has a session adopt what its session template says by now, or another template.')
    .argument('<sessionId>', 'the session', uuid)
    .option('--template <name>', 'name or id of the session template (default: its own)')
    .option('--dry-run', 'only show what would change')
    .addHelpText(
      'after',
      examples(
        'sessions adopt-template 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --dry-run',
        'sessions adopt-template 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --template "Laps by driver"',
      ),
    )
    .action(async (sessionId: string, { template, dryRun = false }: AdoptOptions) => {
      const platform = await cli.connect();
      const sessionTemplateId =
        template === undefined ? undefined : (await findSessionTemplate(platform, template)).id;
      const adopted = await platform.call('POST /api/v2/session/{id}/adopt-template', {
        params: { id: sessionId },
        body: { sessionTemplateId, dryRun },
      });
      cli.print(adopted, () => described(adopted));
    });
};

function described({ sessionTemplateName, dryRun, changes }: TemplateAdoption): string {
  const verb = dryRun ? 'would adopt' : 'has adopted';
  const edited = changes.filter((change) => change.edited).map(({ node }) => node);
  if (changes.length === 0) return `The session is as ${sessionTemplateName} says: nothing changes.`;
  return [
    table(changes, {
      NODE: ({ node }) => node,
      CHANGE: ({ kind }) => kind,
      BEFORE: ({ before }) => (before ? JSON.stringify(before) : null),
      AFTER: ({ after }) => (after ? JSON.stringify(after) : null),
    }),
    '',
    ...(edited.length === 0
      ? []
      : [
          `Configurations that people changed in this session ${dryRun ? 'would be' : 'were'} replaced: ${edited.join(', ')}. Their revisions remain.`,
        ]),
    `The session ${verb} ${sessionTemplateName}.`,
  ].join('\n');
}
