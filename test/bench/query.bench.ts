/**
 * Session list and session query over a million sessions. Run: `npm run bench:query [-- --sessions 1000000 --plans]`.
 *
 * Each line is one request after the other over one connection to the API, with other values each time: p50 and p95
 * of what the caller waits. With up to 10,000 sessions (`--sessions 10000`) the aim is a p95 of 100 ms for each. `--plans` also prints how PostgreSQL answers each kind.
 */

import { parseArgs } from 'node:util';
import { readSessionQuery } from '../../domain/sessions/session-query.ts';
import type { Database } from '../../store/connection/database.ts';
import { listStatement } from '../../store/search/session-list.ts';
import type { Statement } from '../../store/search/session-page.ts';
import { queryStatement } from '../../store/search/session-query.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { openForSeeding, seedSessionsInto } from './support/seeded-sessions.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '200' },
    plans: { type: 'boolean', default: false },
  },
});
const sessions = Number(values.sessions);
const rounds = Number(values.rounds);

/** One kind of request; `round` makes its values differ from time to time. */
interface Kind {
  readonly name: string;
  readonly rounds?: number;
  request(round: number): { readonly method: string; readonly path: string; readonly body?: object };
  statement(round: number): Statement;
}

/** A cheap random number that is the same every time. */
const some = (round: number, below: number) => (round * 7_919 + 13) % below;

const firstPage = { sortBy: 'date', sortOrder: 'desc', page: 1, pageSize: 25 } as const;
const seededFrom = Date.parse('2023-11-14T22:13:20Z');
type ListFields = Partial<Parameters<typeof listStatement>[0]>;
function list(name: string, fields: (round: number) => ListFields, rounds?: number): Kind {
  return {
    name: `list ${name}`,
    ...(rounds === undefined ? {} : { rounds }),
    request(round) {
      const { states, ownerId, from, ...rest } = fields(round);
      const parts = { ...rest, state: states?.join(), owner: ownerId, from: from?.toISOString() };
      const given = Object.entries(parts).filter(([, value]) => value !== undefined);
      const query = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]));
      return { method: 'GET', path: `/api/v2/session?${query}` };
    },
    statement: (round) => listStatement({ ...firstPage, ...fields(round) }),
  };
}

function query(name: string, body: (round: number) => object, rounds?: number): Kind {
  return {
    name: `query ${name}`,
    ...(rounds === undefined ? {} : { rounds }),
    request: (round) => ({ method: 'POST', path: '/api/sessions/query', body: body(round) }),
    statement: (round) => queryStatement(readSessionQuery(body(round)), new Map()),
  };
}

const leaf = (path: string, op: string, value: unknown) => ({ path, op, value });
const few = 20;
const lastDay = () => new Date(seededFrom + sessions * 30_000 - 86_400_000);
const ownerOf = (round: number) =>
  `00000000-0000-4000-8000-${some(round, 5_000).toString(16).padStart(12, '0')}`;
const kinds: readonly Kind[] = [
  list('by date', (round) => ({ page: 1 + (round % 20) })),
  list('by date, one project', (round) => ({ projectId: 1 + some(round, 50), page: 1 + (round % 5) })),
  list('by name', (round) => ({ sortBy: 'name', sortOrder: 'asc', page: 1 + (round % 20) })),
  list('failed', (round) => ({ states: ['failed'], page: 1 + (round % 5) })),
  list('running', () => ({ states: ['running'] })),
  list('done', (round) => ({ states: ['done'], page: 1 + (round % 20) })),
  list('not started', (round) => ({ states: ['notStarted'], page: 1 + (round % 20) })),
  list('failed or running, one project', (round) => ({
    states: ['failed', 'running'],
    projectId: 1 + some(round, 50),
  })),
  list('failed, of the last day', () => ({ states: ['failed'], from: lastDay() })),
  list('of one owner', (round) => ({ ownerId: ownerOf(round) })),
  {
    name: 'counts of the tabs',
    request: () => ({ method: 'GET', path: '/api/v2/session/counts' }),
    statement: () => listStatement({ ...firstPage, states: ['failed'] }),
  },
  {
    name: 'storage of the projects',
    rounds: 20,
    request: () => ({ method: 'GET', path: '/api/v2/session/storage' }),
    statement: () => listStatement({ ...firstPage, states: ['failed'] }),
  },
  list('by search, a name', (round) => ({ search: nameOf(100_000 + some(round, 800_000)) })),
  list('by search, part of a number', (round) => ({ search: String(100_000 + some(round, 800_000)) })),
  list('by search, part of an id', (round) => ({ search: idPart(round) })),
  list('by search, a simulation (3,300 match)', (round) => ({
    search: `simulation-${some(round, 200) + 100} `,
  })),
  list('by search, 125,000 match', () => ({ search: 'night landing' }), few),
  list('by search, two letters', () => ({ search: 'zq' }), few),
  query('by metadata path, one matches', (round) => ({
    filter: leaf('run', 'eq', 1 + some(round, sessions)),
  })),
  query('by metadata path, 50 match', (round) => ({
    filter: leaf('vehicle.number', 'eq', some(round, 20_000)),
  })),
  query('by metadata path, 200 match', (round) => ({
    filter: leaf('operator', 'eq', `operator-${some(round, 5_000)}`),
  })),
  query('by metadata path, 20,000 match', (round) => ({
    filter: leaf('place', 'eq', `place-${some(round, 50)}`),
  })),
  query('by two metadata paths with order', (round) => ({
    filter: {
      and: [leaf('operator', 'eq', `operator-${some(round, 5_000)}`), leaf('weather.rain', 'eq', false)],
    },
    orderBy: [{ path: 'weather.wind', direction: 'desc' }, { path: 'run' }],
  })),
  query('by two metadata paths with order, 5,000 match', (round) => ({
    filter: { and: [leaf('place', 'eq', `place-${some(round, 50)}`), leaf('vehicle.kind', 'eq', 'truck')] },
    orderBy: [{ path: 'weather.wind', direction: 'desc' }],
  })),
  query('by metadata path, 250,000 match', () => ({ filter: leaf('vehicle.kind', 'eq', 'tank') }), few),
  query(
    'by metadata range, 10,000 match',
    (round) => ({ filter: leaf('weather.wind', 'gte', 99 + (round % 10) / 1e3) }),
    few,
  ),
  query(
    'by element of a list',
    (round) => ({ filter: leaf('tags', 'contains', `u${some(round, 977)}`) }),
    few,
  ),
];

/** As the seeding names them, in another case. */
function nameOf(i: number): string {
  const word = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot'][Math.floor(i / 8) % 6] ?? '';
  return `${word.toUpperCase()} ${i}`;
}

function idPart(round: number): string {
  return `${((some(round, 65_536) << 4) | 7).toString(16).padStart(5, '0')}-`;
}

async function measure(platform: BenchPlatform, database: Database, kind: Kind): Promise<void> {
  const times: number[] = [];
  let matched = 0;
  const warmUp = 5;
  const count = Math.min(kind.rounds ?? rounds, rounds);
  for (let round = 0; round < count + warmUp; round += 1) {
    const { method, path, body } = kind.request(round);
    const started = performance.now();
    const answer = await platform.client.expect<Answered>(200, method, path, body);
    if (round >= warmUp) times.push(performance.now() - started);
    matched += answer.totalCount ?? answer.template?.totalCount ?? 0;
  }
  const floor = { name: 'the statement alone', values: await straight(database, kind, Math.min(count, few)) };
  printFigure(`${kind.name} (${Math.round(matched / (count + warmUp))} in all)`, times, {
    floor,
    ...(sessions <= 10_000 ? { aim: { of: 'p95', most: 100 } } : {}),
  });
}

/** Durations of the statements that the route sends. */
async function straight(database: Database, kind: Kind, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const { text, values: bound } = kind.statement(round);
    const started = performance.now();
    await database.queryUnprepared(text, bound);
    times.push(performance.now() - started);
  }
  return times;
}

interface Answered {
  readonly totalCount?: number;
  readonly template?: { readonly totalCount: number };
}

async function explain(database: Database, kind: Kind): Promise<void> {
  const { text, values: bound } = kind.statement(7);
  const lines = await database.queryUnprepared<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, buffers off) ${text}`,
    bound,
  );
  console.log(`\n${kind.name}`);
  for (const line of lines) console.log(`    ${line['QUERY PLAN']}`);
}

if (import.meta.main) {
  printMachine();
  const platform = await startBenchPlatform();
  const database = await openForSeeding(platform);
  try {
    await seedSessionsInto(database, sessions);
    for (const kind of kinds) await measure(platform, database, kind);
    if (values.plans) for (const kind of kinds) await explain(database, kind);
  } finally {
    await database.close();
    await platform.stop();
  }
}
