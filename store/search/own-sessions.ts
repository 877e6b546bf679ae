/** The sessions of one person: those that they made and those in which they take part, newest first. */
import { limits } from '../../domain/limits.ts';
import type { Person } from '../../domain/sessions/participant.ts';
import type { Database } from '../connection/database.ts';
import { Parameters } from '../connection/parameters.ts';
import { type ListedRow, listColumns, listJoins, type SessionListRow } from './session-list.ts';
import { overviewOf } from './session-overview.ts';
import type { Count, Statement } from './session-page.ts';

export interface OwnSessionsPage {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

const newestFirst = 'order by created_at desc, session_id desc';

/**
 * The ways to be a member, as membership.ts tests them of one session. Each is one index of `session_search`, whose rows
 * show the participants of shared sessions alone under `metadata_keys`. `session_member` has no other person.
 */
function waysOfMembership({ identifier, key }: Person, parameters: Parameters): readonly string[] {
  const participant = (id: string) => parameters.bind(JSON.stringify({ participants: [{ id }] }), 'jsonb');
  return [
    `c.user_id = ${parameters.bind(identifier, 'uuid')}`,
    `c.email_identifier = any(${parameters.bind([identifier, key], 'text[]')})`,
    `c.email_key = ${parameters.bind(key, 'text')}`,
    `c.metadata_keys @> ${participant(key)}`,
    `c.metadata_keys is not null and c.metadata @> ${participant(identifier)}`,
  ];
}

/** The statement of one page: each row has the total, and a page beyond the end is one row without a session. */
function ownStatement(person: Person, { page, pageSize }: OwnSessionsPage): Statement {
  const parameters = new Parameters();
  const most = limits.sessionsCounted + 1;
  // Each way by itself: the planner takes the index of each, and none reads more than are counted.
  const found = waysOfMembership(person, parameters).map(
    (way) =>
      `(select c.session_id, c.created_at from session_search c where ${way} ${newestFirst} limit ${most})`,
  );
  const limit = parameters.bind(pageSize, 'bigint');
  const offset = parameters.bind((page - 1) * pageSize, 'bigint');
  const text = `
    with own as materialized (select * from (${found.join(' union ')}) every_way ${newestFirst} limit ${most}),
         chosen as materialized (
           select * from (select * from own ${newestFirst} limit ${limits.sessionsCounted}) counted
            ${newestFirst} limit ${limit} offset ${offset})
    select total.count as total, r.*
      from (select count(*) as count from own) total
      left join (select ${listColumns} from chosen m join session_search c on c.session_id = m.session_id ${listJoins}) r
        on true
     order by r.created_at desc, r.id desc`;
  return { text, values: parameters.values };
}

/** One page, and how many sessions there are, to a bound beyond which none is listed. */
export async function ownSessions(
  database: Database,
  person: Person,
  page: OwnSessionsPage,
): Promise<{ rows: SessionListRow[]; total: Count }> {
  const { text, values } = ownStatement(person, page);
  type Row = ListedRow & { total: number; id: string | null };
  const found = await database.queryUnprepared<Row>(text, values);
  const total = found[0]?.total ?? 0;
  const rows = found
    .filter(({ id }) => id !== null)
    .map(({ total: _, ...row }) => ({ ...row, ...overviewOf(row) }));
  const most = limits.sessionsCounted;
  return { rows, total: { count: Math.min(total, most), isExact: total <= most } };
}
