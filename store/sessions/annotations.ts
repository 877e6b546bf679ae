/** Annotations: moments and ranges of a session with words, of people and of runners (additions, section 4). */
import { createHash } from 'node:crypto';
import { limits } from '../../domain/limits.ts';
import { lockOfText } from '../connection/advisory-locks.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { writeTask } from '../runs/write-task.ts';

export interface AnnotationFields {
  readonly from: Date;
  /** Null: a moment. */
  readonly to: Date | null;
  readonly label: string;
  readonly text: string;
  readonly tags: readonly string[];
  /** Null: of the session as a whole. */
  readonly channel: string | null;
}

export interface AnnotationRow extends AnnotationFields {
  readonly id: string;
  /** Null when a runner made it. */
  readonly createdBy: string | null;
  /** The run that made it; null when a person did. */
  readonly runId: string | null;
  readonly nodeName: string | null;
  readonly createdAt: Date;
}

export interface AnnotationFilter {
  /** With `to`: the time that the annotations touch, at least in part. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly label?: string | undefined;
  readonly tag?: string | undefined;
}

const columns = `a.id, a.from_at as "from", a.to_at as "to", a.label, a.body as text, a.tags, a.channel, a.created_by,
  a.run_id, (select n.name from node_instance n where n.id = a.node_instance_id) as node_name, a.created_at`;

/** One page of a session's annotations in the order of time; undefined when there is no such session. */
export async function listAnnotations(
  database: Queryable,
  sessionId: string,
  { from, to, label, tag }: AnnotationFilter,
  page: { readonly number: number; readonly size: number },
): Promise<{ readonly rows: readonly AnnotationRow[]; readonly totalCount: number } | undefined> {
  const condition = `a.session_id = $1 and not a.staged
    and ($2::timestamptz is null or coalesce(a.to_at, a.from_at) >= $2) and ($3::timestamptz is null or a.from_at <= $3)
    and ($4::text is null or a.label = $4) and ($5::text is null or a.tags @> array[$5])`;
  const values = [sessionId, from ?? null, to ?? null, label ?? null, tag ?? null];
  const [session] = await database.query<{ count: number }>(
    `select (select count(*) from annotation a where ${condition}) as count from session where id = $1`,
    values,
  );
  if (session === undefined) return undefined;
  const rows = await database.query<AnnotationRow>(
    `select ${columns} from annotation a where ${condition} order by a.from_at, a.id offset $6 limit $7`,
    [...values, (page.number - 1) * page.size, page.size],
  );
  return { rows, totalCount: session.count };
}

/** From here on no other transaction adds to the session's annotations, so that they can be counted. */
async function lockAnnotations(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(lockOfText("'annotation ' || $1"), [sessionId]);
}

export type AnnotationCreation =
  | { readonly outcome: 'created'; readonly annotation: AnnotationRow }
  | { readonly outcome: 'session-missing' | 'too-many' };

export async function createAnnotation(
  database: Database,
  sessionId: string,
  fields: AnnotationFields,
  createdBy: string,
): Promise<AnnotationCreation> {
  return database.transaction(
    oncePerKey(
      async (tx): Promise<AnnotationCreation> => {
        await lockAnnotations(tx, sessionId);
        const [session] = await tx.query<{ count: number }>(
          `select (select count(*) from annotation where session_id = $1) as count
             from session where id = $1 for key share`,
          [sessionId],
        );
        if (session === undefined) return { outcome: 'session-missing' };
        if (session.count >= limits.annotationsPerSession) return { outcome: 'too-many' };
        const { from, to, label, text, tags, channel } = fields;
        const [annotation] = await tx.query<AnnotationRow>(
          `insert into annotation as a (id, session_id, from_at, to_at, label, body, tags, channel, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${columns}`,
          [newId(), sessionId, from, to, label, text, tags, channel, createdBy],
        );
        return { outcome: 'created', annotation: annotation! };
      },
      ({ outcome }) => outcome === 'created',
    ),
  );
}

/** A field that is undefined does not change. */
export type AnnotationChange = {
  readonly [Field in keyof AnnotationFields]?: AnnotationFields[Field] | undefined;
};

/**
 * Changes the fields that are there.
 * @returns undefined when the session has no such annotation; `times-reversed` when it would end before it begins
 */
export async function changeAnnotation(
  database: Database,
  place: { readonly sessionId: string; readonly annotationId: string },
  change: AnnotationChange,
): Promise<AnnotationRow | 'times-reversed' | undefined> {
  return database.transaction(async (tx) => {
    const [before] = await tx.query<AnnotationRow>(
      `select ${columns} from annotation a where a.id = $1 and a.session_id = $2 and not a.staged for update`,
      [place.annotationId, place.sessionId],
    );
    if (before === undefined) return undefined;
    const { from = before.from, to = before.to, label = before.label, text = before.text } = change;
    const { tags = before.tags, channel = before.channel } = change;
    if (to !== null && to < from) return 'times-reversed';
    const [after] = await tx.query<AnnotationRow>(
      `update annotation a set from_at = $2, to_at = $3, label = $4, body = $5, tags = $6, channel = $7
        where a.id = $1 returning ${columns}`,
      [place.annotationId, from, to, label, text, tags, channel],
    );
    return after;
  });
}

/** @returns false when the session has no such annotation */
export async function deleteAnnotation(
  database: Database,
  place: { readonly sessionId: string; readonly annotationId: string },
): Promise<boolean> {
  const rows = await database.query(
    'delete from annotation where id = $1 and session_id = $2 and not staged returning id',
    [place.annotationId, place.sessionId],
  );
  return rows.length > 0;
}

/** What the run has staged or published already, or an earlier run of its node published, as people may have changed it. */
const isThere = (digest: string) => `exists (select from annotation a where a.digest = ${digest}
  and (a.run_id = $2 or a.session_id = $1 and a.node_instance_id = $3 and not a.staged))`;

/**
 * What {@link isThere} is not staged again, and does not count again: a reprocess would double it.
 * @returns `too-many` when the session would have more than it may
 */
export async function stageAnnotations(
  database: Database,
  caller: TaskHolder,
  annotations: readonly AnnotationFields[],
) {
  return writeTask(database, caller, async ({ tx, task }) => {
    const rows = annotations.map(staged);
    await lockAnnotations(tx, task.sessionId);
    const [count] = await tx.query<{ present: number; added: number }>(
      `select (select count(*) from annotation where session_id = $1) as present,
              (select count(distinct digest) from unnest($4::text[]) as x (digest)
                where not ${isThere("decode(x.digest, 'hex')")}) as added`,
      [task.sessionId, task.runId, task.nodeInstanceId, rows.map(({ digest }) => digest)],
    );
    const { present, added } = count!;
    if (added > 0 && present + added > limits.annotationsPerSession) return 'too-many';
    await tx.query(
      `insert into annotation
         (id, session_id, from_at, to_at, label, body, tags, channel, run_id, node_instance_id, digest, staged)
       select x.id, $1, x.from_at, x.to_at, x.label, x.body, x.tags, x.channel, $2, $3, decode(x.digest, 'hex'), true
         from jsonb_to_recordset($4::jsonb) as x
           (id uuid, from_at timestamptz, to_at timestamptz, label text, body text, tags text[], channel text, digest text)
        where not ${isThere("decode(x.digest, 'hex')")}
       on conflict do nothing`,
      [task.sessionId, task.runId, task.nodeInstanceId, JSON.stringify(rows)],
    );
    return 'staged';
  });
}

function staged({ from, to, label, text, tags, channel }: AnnotationFields) {
  const content = JSON.stringify([from, to, label, text, tags, channel]);
  const digest = createHash('sha256').update(content).digest('hex');
  return { id: newId(), from_at: from, to_at: to, label, body: text, tags, channel, digest };
}
