/** The data folder of an earlier version: its database at the schema of then, and its objects. */
import { readFileSync } from 'node:fs';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { migrateAuth } from '../../../auth/migrate.ts';
import { prepareRoles, roleAddresses } from '../../../local/database-roles.ts';
import { platformMigrations } from '../../../store/connection/migrations.ts';
import { migrate } from '../../../store/migrate.ts';
import { s3Client } from '../../support/bucket.ts';
import { connected, emptyDatabase } from '../../support/databases.ts';
import type { TestEnvironment } from '../../support/stack.ts';

/** What is in the record beside rows, objects and answers. */
interface Recorded {
  /** The newest migration of then. */
  readonly migration: string;
  readonly developer: { readonly username: string; readonly password: string };
  /** The node whose runs, revisions and outputs were read. */
  readonly nodeInstanceId: number;
  /** A session whose run is queued. */
  readonly waiting: { readonly template: string };
  /** A session whose run is held. */
  readonly held: { readonly template: string; readonly sessionId: string; readonly runId: string };
}

type Line =
  | { readonly table: string; readonly row: object }
  | { readonly object: string; readonly base64: string }
  | { readonly path: string; readonly answer: unknown };

export interface EarlierData extends Recorded {
  /** As the server's superuser. */
  readonly databaseUrl: string;
  /** As the owner of the tables: for migrations. */
  readonly ownerUrl: string;
  /** For the processes of the platform. */
  readonly environment: Record<string, string>;
  /** What the version of then answered, by the path below `/api/v2`. */
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sent.
  readonly answers: ReadonlyMap<string, any>;
  drop(): Promise<void>;
}

/**
 * @param file lines of JSON: what was recorded, then rows, objects and answers. That version wrote them itself: people and
 *   runners worked on it through its interface, and it was stopped while a run was queued and another one held.
 */
export async function restoreEarlier(platform: TestEnvironment, file: string): Promise<EarlierData> {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8').trim();
  const [recorded, ...lines] = text.split('\n').map((line) => JSON.parse(line)) as [Recorded, ...Line[]];
  const { url, drop } = await emptyDatabase(platform.databaseUrl);
  await prepareRoles(url);
  const roles = roleAddresses(url);
  const { migrations } = platformMigrations;
  const count = 1 + migrations.findIndex((migration) => migration.name === recorded.migration);
  await migrate(roles.owner, migrations.slice(0, count));
  await migrateAuth(roles.owner, 'replaced by the recorded one');
  await restoreRows(url, lines);
  await restoreObjects(platform, lines);
  return {
    ...recorded,
    databaseUrl: url,
    ownerUrl: roles.owner,
    environment: {
      ...platform.environment,
      DATABASE_URL: roles.application,
      REPORT_DATABASE_URL: roles.report,
    },
    answers: new Map(lines.flatMap((line) => ('path' in line ? [[line.path, line.answer]] : []))),
    drop,
  };
}

/** Without triggers and checks of references, as a restored backup. */
async function restoreRows(databaseUrl: string, lines: readonly Line[]): Promise<void> {
  const client = await connected(databaseUrl);
  const rows = Object.groupBy(
    lines.filter((line) => 'table' in line),
    ({ table }) => table,
  );
  try {
    await client.query('set session_replication_role = replica');
    // What migrations wrote into an empty database is not what was recorded.
    await client.query(`truncate auth.users, ${Object.keys(rows).join(', ')} cascade`);
    for (const [table, found = []] of Object.entries(rows)) {
      const { rows: columns } = await client.query<{ list: string }>(
        `select string_agg(quote_ident(attname), ', ') as list from pg_attribute
          where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
        [table],
      );
      const { list } = columns[0]!;
      await client.query(
        `insert into ${table} (${list}) overriding system value
         select ${list} from json_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(found.map(({ row }) => row))],
      );
    }
    await client.query(moveSequences);
  } finally {
    await client.end();
  }
}

/** The next number of each column that counts by itself is behind its last. */
const moveSequences = `
  do $$
  declare
    each record;
  begin
    for each in
      select c.oid::regclass as relation, a.attname as name, pg_get_serial_sequence(c.oid::regclass::text, a.attname) as sequence
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
       where c.relnamespace in ('public'::regnamespace, 'auth'::regnamespace) and c.relkind = 'r'
    loop
      execute format('select setval(%L, coalesce(max(%I), 0) + 1, false) from %s', each.sequence, each.name, each.relation);
    end loop;
  end
  $$`;

async function restoreObjects({ environment, s3 }: TestEnvironment, lines: readonly Line[]): Promise<void> {
  const client = s3Client(environment);
  for (const line of lines) {
    if (!('object' in line)) continue;
    const Body = Buffer.from(line.base64, 'base64');
    await client.send(new PutObjectCommand({ Bucket: s3.bucket, Key: line.object, Body }));
  }
  client.destroy();
}
