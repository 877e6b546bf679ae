/**
 * A report of 100,000 rows, as xlsx and as csv: time to the first and to the last byte, memory of the API.
 * Run: `npm run bench:report [-- --rows 100000 --rounds 3]`.
 *
 * The shipped report over as many sessions, each with a dashboard, a scenario and a member (half of them accounts, half
 * keys of strangers), written straight into the database. The floor are the same rows read by one statement. The aims
 * are under 10 s and under 200 MB.
 */
import { request } from 'node:http';
import { parseArgs } from 'node:util';
import { Database } from '../../store/connection/database.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { report } from './support/figures.ts';
import { forgetPeak, memoryMebibytes } from './support/memory.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '5' } },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);
const accounts = 50;
const seededAtOnce = 10_000;

const seeding = [
  `create temporary table seeded on commit drop as
     select gen_random_uuid() as id, i from generate_series($1::int, $2::int) i`,
  `insert into session (id, name, email_identifier, email_key, simulation_name, session_template_id, project_id, user_id,
                        metadata, created_at, checked_at)
   select id, 'Flight ' || i, 'anon:bench', 'anon:bench', 'simulation-' || i % 300, $1, $2, gen_random_uuid(),
          jsonb_build_object('vehicle', i % 40, 'notes', md5(i::text)),
          timestamptz '2026-01-01Z' + i * interval '1 minute', now() + interval '1 day'
     from seeded`,
  `insert into node_instance (session_id, ordinal, name, node_template_id, configuration)
   select s.id, 0, 'dashboard', t.id, '{}' from seeded s, (select min(id) as id from node_template) t`,
  `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
   select n.session_id, n.id, 'Recording', 'Recording', 'next' from seeded s join node_instance n on n.session_id = s.id`,
  `insert into scenario_instance (id, session_id, scenario_name, from_at, to_at)
   select gen_random_uuid(), id, 'Scenario ' || i % 20, timestamptz '2026-01-01Z' + i * interval '1 minute',
          timestamptz '2026-01-01Z' + i * interval '1 minute' + i % 50 * interval '1 minute'
     from seeded`,
  `insert into session_member (session_id, identifier)
   select id, case when i % 2 = 0 then ($1::text[])[1 + i / 2 % cardinality($1::text[])] else 'anon:' || md5(i::text) end
     from seeded`,
];

async function seed(platform: BenchPlatform, database: Database): Promise<void> {
  const { client } = platform;
  const people: string[] = [];
  for (let i = 0; i < accounts; i++) {
    const user = { username: `pilot-${i}`, password: `password of pilot ${i}`, role: 'Trainee' };
    const names = { firstName: 'Pilot', lastName: `No ${i}`, email: `pilot-${i}@example.org` };
    const made = { ...user, ...names };
    people.push(
      (await client.expect<{ userId: string }>(201, 'POST', '/api/authorization/users', made)).userId,
    );
  }
  const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
  const templates = await client.expect<{ id: number }[]>(200, 'GET', '/session_templates');
  // Row by row the cards of the session list would need minutes; reports do not read them.
  await database.query('alter table session disable trigger session_search_made');
  const given: readonly (readonly unknown[])[] = [[], [templates[0]!.id, project.id], [], [], [], [people]];
  for (let from = 1; from <= rows; from += seededAtOnce) {
    const bounds = [from, Math.min(from + seededAtOnce - 1, rows)];
    await database.transaction(async (tx) => {
      for (const [index, statement] of seeding.entries())
        await tx.query(statement, index === 0 ? bounds : given[index]);
    });
  }
  await database.query('alter table session enable trigger session_search_made');
  await database.query('analyze');
}

interface Downloaded {
  readonly firstByteMs: number;
  readonly tookMs: number;
  readonly bytes: number;
  /** Line breaks; of a csv. */
  readonly lines: number;
}

function download({ port, token }: BenchPlatform, format: string): Promise<Downloaded> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const path = `/api/v2/dashboard/reports/download?format=${format}`;
    const sent = request({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${token}` } });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let [firstByteMs, bytes, lines] = [0, 0, 0];
      try {
        for await (const chunk of response as AsyncIterable<Buffer>) {
          if (bytes === 0) firstByteMs = performance.now() - startedAt;
          bytes += chunk.length;
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
        }
        if (response.statusCode !== 200) throw new Error(`The report is answered by ${response.statusCode}.`);
        resolve({ firstByteMs, tookMs: performance.now() - startedAt, bytes, lines });
      } catch (error) {
        reject(error);
      }
    });
    sent.end();
  });
}

/** The same rows without the platform. */
async function straight(database: Database): Promise<number> {
  const startedAt = performance.now();
  const read = await database.queryUnprepared(
    `select s.name, p.title, i.scenario_name, i.from_at, i.to_at, i.to_at - i.from_at as duration, u.identifier,
            s.created_at
       from dimension d join session s on s.id = d.session_id join project p on p.id = s.project_id
       join scenario_instance i on i.session_id = s.id join session_member u on u.session_id = s.id
      order by i.from_at, d.created_at, d.id`,
  );
  if (read.length !== rows) throw new Error(`${read.length} rows were read.`);
  return performance.now() - startedAt;
}

printMachine();
const platform = await startBenchPlatform();
const database = await Database.open({
  databaseUrl: platform.stack.environment.DATABASE_URL ?? '',
  poolSize: 2,
});
try {
  await seed(platform, database);
  const api = platform.pid('api');
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) floor.push(await straight(database));
  console.log(`${rows} rows, ${rounds} rounds; API at rest ${memoryMebibytes(api, 'VmRSS')} MiB`);
  for (const format of ['csv', 'xlsx']) {
    const downloads: Downloaded[] = [];
    const peaks: number[] = [];
    const before = cpuSeconds(platform);
    for (let round = 0; round < rounds; round++) {
      forgetPeak(api);
      downloads.push(await download(platform, format));
      peaks.push(memoryMebibytes(api, 'VmHWM'));
    }
    const wrong = format === 'csv' ? downloads.find(({ lines }) => lines !== rows + 1) : undefined;
    if (wrong !== undefined) throw new Error(`A csv of ${wrong.lines} lines.`);
    const what = `${format} of ${rows} rows`;
    printFigure(
      `${what}, first byte`,
      downloads.map(({ firstByteMs }) => firstByteMs),
    );
    printFigure(
      `${what}, all`,
      downloads.map(({ tookMs }) => tookMs),
      {
        aim: { of: 'worst', most: 10_000 },
        floor: { name: 'the rows by one statement', values: floor },
      },
    );
    report({
      name: `${what}, memory of the API`,
      unit: 'MiB',
      values: peaks,
      aim: { of: 'worst', most: 200 },
    });
    printCpu(platform, before, rounds);
    const size = (downloads[0]!.bytes / 1024 ** 2).toFixed(1);
    console.log(`    ${size} MiB; API memory at the most ${Math.max(...peaks)} MiB`);
  }
} finally {
  await database.close();
  await platform.stop();
}
