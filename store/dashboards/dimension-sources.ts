/** The recordings of a dashboard, a row each: a run adds its new ones, and a request reads those that it asks for. */
import { limits } from '../../domain/limits.ts';
import type { Queryable, Tx } from '../connection/database.ts';

/** One channel of a source. `key` names it in the whole dashboard: see domain/recordings/channel-key.ts. */
export interface DimensionChannel {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly unit: string | null;
  readonly type: string;
  readonly group: string;
  readonly realm: string;
}

/**
 * One columnar output that a dashboard draws from. The place of its bytes and its description are not shown to callers.
 */
export interface DimensionSource {
  readonly outputId: number;
  readonly name: string;
  readonly realm: string;
  /** `from` and `to` are ISO 8601; null when they are no times. */
  readonly time: { readonly kind: string; readonly from: string | null; readonly to: string | null };
  readonly rowCount: number;
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  readonly channels: readonly DimensionChannel[];
  readonly dataSourceId: number;
  readonly objectKey: string;
  readonly sha256: string | null;
  readonly description: unknown;
}

/** A recording for a dashboard. Of one upload the recording of the highest position is shown. */
export interface NewSource {
  /** Output id of the upload. */
  readonly sourceId: number;
  readonly position: number;
  readonly source: DimensionSource;
}

const addStatement = `
  with given as (
    select distinct on (source_id) source_id, (source ->> 'outputId')::bigint as output_id, position, source
      from jsonb_to_recordset($2::jsonb) as g (source_id bigint, position bigint, source jsonb)
     order by source_id, position desc
  ), replaced as (
    delete from dimension_source d using given g
     where d.dimension_id = $1 and d.source_id = g.source_id and d.output_id <> g.output_id and d.position <= g.position
  )
  insert into dimension_source (dimension_id, output_id, source_id, position, source)
  select $1, g.output_id, g.source_id, g.position, g.source from given g
   where not exists (
     select from dimension_source d
      where d.dimension_id = $1 and d.source_id = g.source_id and d.position > g.position)
      on conflict (dimension_id, output_id) do update
     set source_id = excluded.source_id, position = excluded.position, source = excluded.source`;

/** Adds recordings to a dashboard; each replaces the earlier one of its upload. */
export async function addSources(tx: Tx, dimensionId: number, sources: readonly NewSource[]): Promise<void> {
  if (sources.length === 0) return;
  const rows = sources.map(({ sourceId, position, source }) => ({ source_id: sourceId, position, source }));
  await tx.query(addStatement, [dimensionId, JSON.stringify(rows)]);
}

const ofDimension = 'select source from dimension_source where dimension_id = $1';
const inOrder = 'order by source_id, output_id';
const isAmong = 'output_id = any ($2::bigint[])';
const hasNamed = `exists (
  select from jsonb_array_elements(source -> 'channels') channel where channel ->> 'name' = any ($3::text[]))`;

type SourceRow = { readonly source: DimensionSource };

/** The first recordings of a dashboard that have a channel, in the order of their uploads. */
export async function firstSources(
  database: Queryable,
  dimensionId: number,
  count: number,
): Promise<DimensionSource[]> {
  const statement = `${ofDimension} and source -> 'channels' <> '[]' ${inOrder} limit $2`;
  const rows = await database.query<SourceRow>(statement, [dimensionId, count]);
  return rows.map(({ source }) => source);
}

/** A recording as a dashboard shows it. */
export interface ShownSource
  extends Pick<DimensionSource, 'outputId' | 'name' | 'realm' | 'time' | 'rowCount' | 'groups' | 'channels'> {
  /** Its rows are numbered. */
  readonly hasRowNumbers: boolean;
  /** The panels that it suggests. */
  readonly panels: readonly SuggestedPanel[] | null;
  /** On the first page: the version of all recordings of the dashboard, see {@link sourcesVersion}. */
  readonly version: string | null;
}

/** A panel that a recording suggests; `channels` are ids. */
interface SuggestedPanel {
  readonly title: string;
  readonly group: string;
  readonly unit: string | null;
  readonly channels: readonly string[];
}

/** A row that is written again has another xmin. */
const versionStatement = `
  select md5(string_agg(output_id || ' ' || xmin, ',' order by output_id)) as version
    from dimension_source where dimension_id = $1`;

/** Another one whenever a recording was added, replaced or removed; null without any. */
export async function sourcesVersion(database: Queryable, dimensionId: number): Promise<string | null> {
  const [row] = await database.query<{ version: string | null }>(versionStatement, [dimensionId]);
  return row?.version ?? null;
}

/**
 * Recordings of a page are bounded by their number and by their stored size, which is about a tenth of their text. Rows of
 * one upload are on one page. What is not shown is half of each recording, and stays in the database.
 */
const pageStatement = `
  select of_page.source_id, of_page.output_id, of_page.found, shown.name, shown.realm, shown.time,
         shown."rowCount" as row_count, shown.groups, shown.channels,
         shown.description #>> '{time,basis}' = 'row-number' as has_row_numbers,
         shown.description #> '{suggestedLayout,panels}' as panels,
         case when $2 = 0 then (${versionStatement}) end as version
    from (select found.*, count(*) over () as found, rank() over in_order as place,
                 sum(pg_column_size(source)) over in_order as bytes
            from (select source_id, output_id, source from dimension_source
                   where dimension_id = $1 and source_id > $2
                   order by source_id fetch first 100 rows with ties) found
          window in_order as (order by source_id)) of_page
   cross join jsonb_to_record(of_page.source) as shown(
         name text, realm text, "time" jsonb, "rowCount" bigint, groups jsonb, channels jsonb, description jsonb)
   where of_page.place = 1 or of_page.bytes <= 131072
   order by of_page.source_id, of_page.output_id`;
const maxPageRows = 100;

/** The recordings of a dashboard, in the order of their uploads; each page is read on request, and nothing is held between. */
export async function* sourcePages(
  database: Queryable,
  dimensionId: number,
): AsyncGenerator<readonly ShownSource[], void, undefined> {
  let after = 0;
  for (let isLast = false; !isLast; ) {
    const page = await database.query<ShownSource & { readonly sourceId: number; readonly found: number }>(
      pageStatement,
      [dimensionId, after],
    );
    const { sourceId = 0, found = 0 } = page.at(-1) ?? {};
    after = sourceId;
    isLast = page.length === found && found < maxPageRows;
    yield page;
  }
}

/** The recordings of a dashboard that are among these outputs. */
export async function sourcesOfOutputs(
  database: Queryable,
  dimensionId: number,
  outputIds: readonly number[],
): Promise<DimensionSource[]> {
  const statement = `${ofDimension} and ${isAmong} ${inOrder}`;
  const rows = await database.query<SourceRow>(statement, [dimensionId, outputIds]);
  return rows.map(({ source }) => source);
}

/** What recordings have in common: they are among these outputs, or have a channel of one of these names. */
export interface SourceFilter {
  readonly outputIds: readonly number[];
  readonly names: readonly string[];
}

/** The size is that of the rows as they are stored, so that none is read before it is known. */
const withinStatement = (condition: string) => `
  select case when bytes <= ${limits.questionSourceBytes} then source end as source
    from (select source_id, output_id, source, sum(pg_column_size(source)) over () as bytes
            from dimension_source where dimension_id = $1 ${condition}) found
   ${inOrder}`;

/**
 * The recordings of a dashboard that fit the filter, or all, in the order of their uploads.
 * @returns undefined when they are more than memory should hold (limits.questionSourceBytes)
 */
export async function sourcesWithin(
  database: Queryable,
  dimensionId: number,
  filter?: SourceFilter,
): Promise<DimensionSource[] | undefined> {
  const condition = filter === undefined ? '' : `and (${isAmong} or ${hasNamed})`;
  const values = filter === undefined ? [] : [filter.outputIds, filter.names];
  const rows = await database.query<{ readonly source: DimensionSource | null }>(withinStatement(condition), [
    dimensionId,
    ...values,
  ]);
  const sources = rows.flatMap(({ source }) => source ?? []);
  return sources.length === rows.length ? sources : undefined;
}

/** What the output of a run says of a recording. */
export interface SourceSummary {
  readonly outputId: number;
  readonly name: string;
  readonly rowCount: number;
  /** How many. */
  readonly channels: number;
}

/** The recordings of the newest uploads, in their order, and how many there are. */
export async function summarizeSources(
  database: Queryable,
  dimensionId: number,
  limit: number,
): Promise<{ readonly sourceCount: number; readonly sources: readonly SourceSummary[] }> {
  const [[total], sources] = await Promise.all([
    database.query<{ count: number }>(
      'select count(*) as count from dimension_source where dimension_id = $1',
      [dimensionId],
    ),
    database.query<SourceSummary>(
      `select output_id, source ->> 'name' as name, (source ->> 'rowCount')::bigint as row_count,
              jsonb_array_length(source -> 'channels') as channels
         from dimension_source where dimension_id = $1 order by source_id desc, output_id desc limit $2`,
      [dimensionId, limit],
    ),
  ]);
  return { sourceCount: total?.count ?? 0, sources: sources.reverse() };
}
