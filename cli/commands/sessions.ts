/** `sdp sessions`: finding, reading and changing sessions. */
import { Option } from 'commander';
import type { Query } from '../../client/api-client.ts';
import { maxCompared, readCompared } from '../../client/compared-sessions.ts';
import { type ComparedSession, differencesOf, textsOf } from '../../client/session-differences.ts';
import type { SessionDetails, SessionList } from '../../client/types.ts';
import { type AddCommand, examples, id, priority, uuid, wholeNumber } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { findProject, findSessionTemplate } from '../find-by-name.ts';
import { nodeTable } from '../node-table.ts';
import { facts, pageNote, table, time } from '../output.ts';
import { confirm } from '../prompt.ts';
import { addAdoptTemplate } from './adopt-template.ts';
import { addCreateSession } from './create-session.ts';
import { addWatch } from './watch.ts';

type Sorting = Query<'GET /api/v2/session'>;
interface ListOptions {
  readonly project?: string;
  readonly template?: string;
  readonly search?: string;
  readonly state?: string;
  readonly owner?: string;
  readonly sortBy?: Sorting['sortBy'];
  readonly sortOrder?: Sorting['sortOrder'];
  readonly page?: number;
  readonly pageSize?: number;
}

export const addSessions: AddCommand = (program, cli) => {
  const sessions = program.command('sessions').description('Sessions.');
  addReading(sessions, cli);
  addCreateSession(sessions, cli);
  addWatch(sessions, cli);
  addChanging(sessions, cli);
  addAdoptTemplate(sessions, cli);
  addMending(sessions, cli);
};

const addReading: AddCommand = (sessions, cli) => {
  sessions
    .command('list')
    .description('Lists sessions, newest first.')
    .option('--project <name>', 'only sessions of this project, by title or id')
    .option('--template <name>', 'only sessions of this session template, by name or id')
    .option('--search <text>', 'part of the session name, simulation name or id')
    .option('--state <states>', 'notStarted, running, failed, done, separated by commas')
    .option('--owner <who>', 'only sessions of this creator: me, or an account id')
    .addOption(new Option('--sort-by <what>').choices(['date', 'name']))
    .addOption(new Option('--sort-order <order>').choices(['desc', 'asc']))
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'sessions per page', wholeNumber(1, 100))
    .addHelpText(
      'after',
      examples('sessions list --state failed --owner me', 'sessions list --project "Course 7" --json'),
    )
    .action(async ({ project, template, ...rest }: ListOptions) => {
      const platform = await cli.connect();
      const projectId = project === undefined ? undefined : (await findProject(platform, project)).id;
      const sessionTemplateId =
        template === undefined ? undefined : (await findSessionTemplate(platform, template)).id;
      const query = { projectId, sessionTemplateId, ...rest };
      const found = await platform.call('GET /api/v2/session', { query });
      cli.print(found, () => listed(found));
    });
  sessions
    .command('mine')
    .description('Lists the sessions that you made or in which you take part, newest first; for every role.')
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'sessions per page', wholeNumber(1, 100))
    .addHelpText('after', examples('sessions mine', 'sessions mine --page-size 100 --json'))
    .action(async (query: { page?: number; pageSize?: number }) => {
      const found = await (await cli.connect()).call('GET /api/v2/session/mine', { query });
      cli.print(found, () => listed(found));
    });
  addDetails(sessions, cli);
  addCompare(sessions, cli);
};

const addDetails: AddCommand = (sessions, cli) => {
  sessions
    .command('views')
    .description("Lists the saved views of the console's list of sessions.")
    .addHelpText('after', examples('sessions views'))
    .action(async () => {
      const client = await cli.connect();
      const found = await client.call('GET /api/v2/session/views');
      cli.print(found, () =>
        table(found.views, {
          NAME: ({ name }) => name,
          FOR: ({ scope, projectId }) => (scope === 'project' ? `project ${projectId}` : scope),
          'SAVED BY': ({ createdByName }) => createdByName,
          ADDRESS: ({ query }) => `/sessions?${query}`,
        }),
      );
    });
  sessions
    .command('show')
    .description('Shows a session and the state of its nodes.')
    .argument('<sessionId>', 'the session', uuid)
    .addHelpText('after', examples('sessions show 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10'))
    .action(async (sessionId: string) => {
      const found = await (await cli.connect()).call('GET /api/v2/sessions/{id}', {
        params: { id: sessionId },
      });
      cli.print(found, () => described(found));
    });
};

const addCompare: AddCommand = (sessions, cli) => {
  sessions
    .command('compare')
    .description(
      'Shows what differs between sessions: metadata, configurations, runner versions, files, recordings.',
    )
    .argument(
      '<sessionIds...>',
      `2 to ${maxCompared} sessions`,
      (value: string, before: readonly string[] = []) => [...before, uuid(value)],
    )
    .addHelpText(
      'after',
      examples('sessions compare 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97'),
    )
    .action(async (named: string[]) => {
      const ids = [...new Set(named)];
      if (ids.length < 2 || ids.length > maxCompared)
        throw new UsageError(`Name 2 to ${maxCompared} sessions.`);
      const compared = await readCompared(await cli.connect(), ids);
      const [missing] = compared.missing;
      if (missing !== undefined) throw new Error(`There is no session ${missing}, or you may not see it.`);
      const found = differencesOf(compared.sessions);
      cli.print({ sessions: ids, ...found }, () => differing(compared.sessions, found));
    });
};

/** A column for each session, in the order of the arguments; those of one name are numbered by it. */
function differing(compared: readonly ComparedSession[], found: ReturnType<typeof differencesOf>): string {
  const { rows, same, leftOut } = found;
  const columns = compared.map(({ session }, place) => {
    const isOnly = compared.filter((one) => one.session.name === session.name).length === 1;
    const cell = ({ texts }: { texts: string[] }) => texts[place];
    return [isOnly ? session.name : `${session.name} (${place + 1})`, cell] as const;
  });
  const shown = rows.map((row) => ({ ...row, texts: textsOf(row) }));
  return [
    rows.length === 0
      ? 'Nothing differs but the names and times.'
      : table(shown, { OF: (row) => row.of, WHAT: ({ name }) => name, ...Object.fromEntries(columns) }),
    `\nThe same in all: ${same}.`,
    ...leftOut,
  ].join('\n');
}

const listed = (found: SessionList) =>
  table(found.sessions, {
    ID: (one) => one.id,
    NAME: ({ name }) => name,
    STATE: ({ state, frozen }) => (frozen ? `${state}, frozen` : state),
    NODES: ({ nodeCounts }) => nodesDone(nodeCounts),
    PROJECT: ({ projectTitle }) => projectTitle,
    TEMPLATE: ({ sessionTemplateName }) => sessionTemplateName,
    CREATED: ({ createdAt }) => time(createdAt),
  }) + pageNote(found);

/** `4/5`: nodes that have succeeded, of all. */
function nodesDone(counts: Readonly<Partial<Record<string, number>>>): string {
  const total = Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0);
  return `${counts.Succeeded ?? 0}/${total}`;
}

const described = (session: SessionDetails) =>
  [
    facts({
      Session: `${session.name} (${session.id})`,
      Project: `${session.project.title} (${session.project.id})`,
      Template:
        session.sessionTemplate.name + (session.templateChanged ? ' (newer by now: adopt-template)' : ''),
      Simulation: session.simulationName,
      Owner: session.owner.name ?? session.owner.id,
      State: session.frozen ? `${session.state}, frozen` : session.state,
      Closed: typeof session.metadata?.closedAt === 'string' ? time(session.metadata.closedAt) : undefined,
      'Last activity': time(session.lastActivityAt),
      Created: time(session.createdAt),
      Dashboards: session.dimensions.map(({ name, url }) => `${name} ${url}`).join(', '),
    }),
    '',
    nodeTable(session.nodeInstances),
  ].join('\n');

const addChanging: AddCommand = (sessions, cli) => {
  sessions
    .command('close')
    .description('Closes a session to new participants. A repeat gets the first result.')
    .argument('<sessionId>', 'the session', uuid)
    .option('--reason <text>', 'reason, for the record')
    .option('--at <time>', 'time, up to 24 hours ahead, for example 2026-03-01T10:00:00Z (default: now)')
    .option('--email <address>', 'the participant who closes it (default: the caller)')
    .addHelpText('after', examples('sessions close 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --reason "Over."'))
    .action(async (sessionId: string, options: { reason?: string; at?: string; email?: string }) => {
      const { at: closeAt, reason, email } = options;
      const closed = await (await cli.connect()).call('POST /api/v2/session/{id}/close', {
        params: { id: sessionId },
        body: { reason, closeAt, email },
      });
      const { closedAt, participantCount } = closed;
      cli.print(
        closed,
        () =>
          `Closed at ${time(closedAt)}, with ${participantCount} participant${participantCount === 1 ? '' : 's'}.`,
      );
    });
  for (const [name, what, done] of [
    ['freeze', 'Freezes a session: no uploads, no joins, no new tasks.', 'frozen'],
    ['unfreeze', 'Unfreezes a session.', 'no longer frozen'],
  ] as const) {
    sessions
      .command(name)
      .description(what)
      .argument('<sessionId>', 'the session', uuid)
      .addHelpText('after', examples(`sessions ${name} 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10`))
      .action(async (sessionId: string) => {
        const changed = await (await cli.connect()).call(`POST /api/v2/sessions/{id}/${name}`, {
          params: { id: sessionId },
        });
        cli.print(changed, () => `${changed.name} is ${done}.`);
      });
  }
  addPriority(sessions, cli);
};

const addPriority: AddCommand = (sessions, cli) => {
  sessions
    .command('prioritize')
    .description('Moves the queued runs of a session by a minute of waiting for each step.')
    .argument('<sessionId>', 'the session', uuid)
    .argument('<priority>', '-10 to 10', priority)
    .addHelpText('after', examples('sessions prioritize 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 5'))
    .action(async (sessionId: string, to: number) => {
      const platform = await cli.connect();
      const params = { id: sessionId };
      const changed = await platform.call('PATCH /api/v2/sessions/{id}', { params, body: { priority: to } });
      cli.print(changed, () => `${changed.name} has priority ${to}.`);
    });
  sessions
    .command('delete')
    .description('Deletes a session with its nodes, outputs and dashboards. This cannot be undone.')
    .argument('<sessionId>', 'the session', uuid)
    .option('--yes', 'do not ask')
    .addHelpText('after', examples('sessions delete 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --yes'))
    .action(async (sessionId: string, options: { yes?: boolean }) => {
      const platform = await cli.connect();
      await confirm(`Delete session ${sessionId} and all its data?`, options.yes === true);
      await platform.call('DELETE /api/v2/sessions/{id}', { params: { id: sessionId } });
      cli.print({ sessionId, deleted: true }, () => 'Deleted.');
    });
};

const addMending: AddCommand = (sessions, cli) => {
  sessions
    .command('retry-failed')
    .description('Retries the runs of all failed nodes of a session.')
    .argument('<sessionId>', 'the session', uuid)
    .addHelpText('after', examples('sessions retry-failed 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10'))
    .action(async (sessionId: string) => {
      const platform = await cli.connect();
      const result = await platform.call('POST /api/v2/admin/sessions/{id}/retry-failed', {
        params: { id: sessionId },
      });
      cli.print(result, () => `Retried runs: ${result.retried}.`);
    });
  sessions
    .command('repair')
    .description('Plans a session and repairs its workflow at once.')
    .argument('<sessionId>', 'the session', uuid)
    .addHelpText('after', examples('sessions repair 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10'))
    .action(async (sessionId: string) => {
      const platform = await cli.connect();
      const result = await platform.call('POST /api/v2/admin/sessions/{id}/repair', {
        params: { id: sessionId },
      });
      const found = {
        running: 'was running',
        started: 'was missing and is started',
        restarted: 'is restarted',
      };
      const workflow = found[result.workflow] ?? result.workflow;
      cli.print(result, () => `Nodes with a new run: ${result.planned}. The workflow ${workflow}.`);
    });
};
