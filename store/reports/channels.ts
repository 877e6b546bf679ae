/**
 * Statistics of channels by name, for reports: over all recordings of a dashboard, as their descriptions say. Nothing is
 * read from the recordings themselves.
 */
import { limits } from '../../domain/limits.ts';
import type { Reader } from '../connection/database.ts';

export interface ChannelStatistics {
  /** Null also where recordings have the channel in several units. */
  readonly unit: string | null;
  /** The number of values. */
  readonly count: number;
  /** Rows without a value. */
  readonly missing: number;
  /**
   * Null for states, without values, and where recordings have the channel in several units; the last two also for
   * recordings that were described without them.
   */
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  /** The standard deviation of the sample. */
  readonly standardDeviation: number | null;
}

/**
 * As `numeric`, no sum overflows, however large the values are. Each recording knows the mean of all by a window, so that
 * one pass over a group is enough for its deviation.
 */
const statement = `with one as (
   select d.id, channel ->> 'name' as name, channel ->> 'unit' as unit,
          (channel ->> 'nullCount')::numeric as missing,
          (source ->> 'rowCount')::numeric - (channel ->> 'nullCount')::numeric as count,
          (channel ->> 'min')::numeric as min, (channel ->> 'max')::numeric as max,
          (channel ->> 'mean')::numeric as mean, (channel ->> 'standardDeviation')::numeric as deviation
     from (select dimension_id as id, source from dimension_source where dimension_id = any ($1::bigint[])) d
    cross join lateral jsonb_array_elements(source -> 'description' -> 'channels') channel
    where channel ->> 'name' = any ($2::text[])
 ), every as (
   select id, name, min(unit) as unit, sum(count) as count, sum(missing) as missing, min(min) as min, max(max) as max,
          min(whole) as mean,
          sum(coalesce(deviation, 0) ^ 2 * greatest(count - 1, 0) + count * (mean - whole) ^ 2) filter (where count > 0)
            as squares,
          bool_and(count = 0 or mean is not null) as is_described,
          count(distinct coalesce(unit, '')) filter (where count > 0) < 2 as has_one_unit
     from (select *, sum(count * mean) over same / nullif(sum(count) over same, 0) as whole
             from one window same as (partition by id, name)) o
    group by id, name
 )
 select id, name, count::text, missing::text,
        case when has_one_unit then unit end as unit,
        case when has_one_unit then min::text end as min,
        case when has_one_unit then max::text end as max,
        case when has_one_unit and is_described then mean::text end as mean,
        case when has_one_unit and is_described and count > 1 then sqrt(squares / (count - 1))::text end
          as standard_deviation
   from every`;

/** The channels of these names, by dashboard. */
export async function channelsOf(
  database: Reader,
  dimensionIds: readonly number[],
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<number, Readonly<Record<string, ChannelStatistics>>>> {
  if (dimensionIds.length === 0 || names.size === 0) return new Map();
  const rows = await database.query<Record<keyof ChannelStatistics, string | null> & Found>(statement, [
    dimensionIds,
    [...names],
  ]);
  const number = (text: string | null) => (text === null ? null : Number(text));
  const found = new Map<number, Record<string, ChannelStatistics>>();
  for (const { id, name, unit, count, missing, min, max, mean, standardDeviation } of rows) {
    const channels = found.get(id) ?? {};
    found.set(id, channels);
    channels[name] = {
      unit,
      count: Number(count),
      missing: Number(missing),
      min: number(min),
      max: number(max),
      mean: number(mean),
      standardDeviation: number(standardDeviation),
    };
  }
  return found;
}

interface Found {
  readonly id: number;
  readonly name: string;
}

export interface ChannelName {
  readonly name: string;
  readonly unit: string | null;
  /** How many of the newest dashboards have it. */
  readonly dashboards: number;
}

/** Channels of the newest dashboards, each by its first recordings; the most frequent first. */
export async function channelNames(database: Reader): Promise<ChannelName[]> {
  return database.query(
    `select channel ->> 'name' as name, min(channel ->> 'unit') as unit, count(distinct d.id)::int as dashboards
       from (select id from dimension order by id desc limit $1) d
      cross join lateral (
        select x.source from dimension_source x where x.dimension_id = d.id order by x.source_id, x.output_id limit 20) x
      cross join lateral jsonb_array_elements(x.source -> 'channels') channel
      group by 1 order by 3 desc, 1 limit $2`,
    [limits.reportNameDashboards, limits.reportChannelNames],
  );
}
