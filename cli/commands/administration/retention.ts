/** `sdp retention` and `sdp audit`: what is removed when it is old, and who did what. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '../../../client/api-client.ts';
import { Outage } from '../../../client/back-off.ts';
import type { AuditEntry } from '../../../client/types.ts';
import { type AddCommand, type Cli, examples, instant, uuid, wholeNumber } from '../../cli.ts';
import { UsageError } from '../../errors.ts';
import { facts, table, time } from '../../output.ts';
import { namesOf } from '../../people.ts';
import type { PlatformClient } from '../../platform-client.ts';

const checkEveryMs = 1_000;
/** A worker starts a retention run within a moment. */
const quietChecks = 5;
const waitsForWorker =
  'The retention run waits: no worker has started it. It stays requested when you end this command.';

interface Options {
  readonly dryRun?: boolean;
  readonly orphans?: boolean;
}

export const addRetention: AddCommand = (program, cli) => {
  program
    .command('retention')
    .description('Starts a retention run now.')
    .option('--dry-run', 'only show what would be deleted')
    .option('--orphans', 'with --dry-run: also list the bucket for objects without a row')
    .addHelpText('after', examples('retention --dry-run', 'retention --dry-run --orphans', 'retention'))
    .action((options: Options) => {
      if (options.dryRun === true) return preview(cli, options);
      if (options.orphans === true) throw new UsageError('--orphans only counts: give --dry-run with it.');
      return run(cli);
    });
};

async function preview(cli: Cli, { orphans }: Options): Promise<void> {
  const found = await (await cli.connect()).call('GET /api/v2/admin/retention', {
    query: { orphans: orphans === true },
  });
  const { sessions, outputs } = found;
  const going = table(sessions.items, {
    SESSION: ({ sessionId }) => sessionId,
    PROJECT: ({ projectId }) => projectId,
    CREATED: ({ createdAt }) => time(createdAt),
    OUTPUTS: (one) => one.outputs,
    BYTES: ({ bytes }) => bytes,
  });
  cli.print(found, () =>
    [
      ...(sessions.count === 0 ? [] : [going]),
      facts({
        Sessions: `${sessions.count} with ${sessions.outputs} outputs, ${sessions.bytes} bytes`,
        'Outputs of kept sessions': `${outputs.count} of ${outputs.sessions} sessions, ${outputs.bytes} bytes`,
        ...(found.orphans === null
          ? {}
          : { 'Objects without a row': `${found.orphans.count}, ${found.orphans.bytes} bytes` }),
        'Abandoned uploads': String(found.abandonedUploads),
        ...(found.complete ? {} : { Note: 'There are more than were counted.' }),
      }),
    ].join('\n'),
  );
}

async function run(cli: Cli): Promise<void> {
  const platform = await cli.connect();
  const asked = await platform.call('POST /api/v2/admin/retention');
  for (let checks = 1; ; checks += 1) {
    const { runs } = await retentionState(platform);
    const found = runs.find(({ id }) => id === asked.id);
    if (found === undefined || found.endedAt === null) {
      if (found?.startedAt === null && checks === quietChecks) cli.note(waitsForWorker);
      await delay(checkEveryMs);
      continue;
    }
    cli.print(found, () =>
      facts({ Sessions: found.sessions, Outputs: found.outputs, Orphans: found.orphans, Bytes: found.bytes }),
    );
    if (found.error !== null) throw new Error(found.error);
    return;
  }
}

/**
 * The run goes on while the platform does not answer.
 * @throws ApiError, NetworkError when it is refused, and after the last try
 */
async function retentionState(platform: PlatformClient) {
  const outage = new Outage();
  for (;;) {
    try {
      return await platform.call('GET /api/v2/admin/retention');
    } catch (error) {
      await outage.outlast(error);
    }
  }
}

/** Ids of accounts. The id of a device is that of the person whose token it has. */
function peopleIn({ actor, object }: AuditEntry): string[] {
  const who = actor.kind === 'user' || actor.kind === 'device' ? actor.id : null;
  return [who, object.type === 'user' ? object.id : null].filter((id) => id !== null);
}

type AuditOptions = Query<'GET /api/v2/admin/audit'> & { readonly tokens?: boolean };

export const addAudit: AddCommand = (program, cli) => {
  program
    .command('audit')
    .description('Lists the audit log, newest first.')
    .option('--tokens', 'list events of tokens and accounts instead')
    .option('--from <time>', 'entries from this time on: 90m, 12h, 7d, or 2026-03-01T10:00:00Z', instant)
    .option('--to <time>', 'entries before this time', instant)
    .option('--action <id>', 'one operation, by its id in the API reference')
    .option('--actor-id <id>', 'one user, runner token or managed ingest')
    .option('--object-type <type>', 'one kind of object')
    .option('--object-id <id>', 'one object')
    .option('--session-id <id>', 'writes to this session', uuid)
    .option('--cursor <cursor>', 'cursor of the next page')
    .option('--limit <number>', 'entries per page', wholeNumber(1, 500))
    .addHelpText('after', examples('audit --action deleteSession', 'audit --tokens --from 24h'))
    .action(async ({ tokens, ...query }: AuditOptions) => {
      const route = tokens === true ? 'GET /api/authorization/audit' : 'GET /api/v2/admin/audit';
      const platform = await cli.connect();
      const found = await platform.call(route, { query });
      const names = await namesOf(platform, cli.isJson ? [] : found.entries.flatMap(peopleIn));
      const named = (id: string | null) => (names.has(id) ? `${names.get(id)} (${id})` : id);
      const shown = table(found.entries, {
        AT: (one) => time(one.at),
        WHO: ({ actor }) => [actor.kind, named(actor.id)].filter(Boolean).join(' '),
        WHAT: ({ action }) => action,
        OBJECT: ({ object }) => [object.type, named(object.id)].filter(Boolean).join(' '),
        FROM: ({ network }) => network,
      });
      const more = found.nextCursor === null ? '' : `\nMore: --cursor ${found.nextCursor}`;
      cli.print(found, () => shown + more);
    });
};
