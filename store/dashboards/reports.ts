/** Report definitions (contract: Dashboard support; decisions 12). */
import type { ReportColumn, ReportFilter } from '../../domain/reports/report.ts';
import { noteAudited } from '../administration/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { once } from '../connection/idempotency.ts';

export interface ReportFields {
  readonly name: string;
  readonly configurationKey: string;
  /** What the name of a downloaded file begins with. */
  readonly fileName: string;
  readonly dimensionNameFilter: string;
  readonly columns: readonly ReportColumn[];
  readonly filters: readonly ReportFilter[];
}

export interface ReportRecord extends ReportFields {
  readonly key: string;
  readonly isDefault: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ReportWrite =
  | { readonly outcome: 'saved'; readonly report: ReportRecord }
  | { readonly outcome: 'missing' | 'taken' };

const columns = `
  key, name, configuration_key as "configurationKey", file_name as "fileName",
  dimension_name_filter as "dimensionNameFilter", is_default as "isDefault", columns, filters,
  created_at as "createdAt", updated_at as "updatedAt"`;

/** All definitions by key. */
export async function listReports(
  database: Queryable,
): Promise<Array<Pick<ReportRecord, 'key' | 'name' | 'configurationKey' | 'isDefault'>>> {
  return database.query(
    `select key, name, configuration_key as "configurationKey", is_default as "isDefault"
       from report_definition order by key`,
  );
}

/** @param key undefined: the default report */
export async function findReport(
  database: Queryable,
  key: string | undefined,
): Promise<ReportRecord | undefined> {
  const [row] = await database.query<ReportRecord>(
    `select ${columns} from report_definition where key = $1 or ($1::text is null and is_default)`,
    [key ?? null],
  );
  return row;
}

/** `taken` when another has the key or the configuration key. */
export async function createReport(
  database: Database,
  key: string,
  fields: ReportFields,
  setAsDefault: boolean,
): Promise<ReportWrite> {
  return database
    .transaction(
      once(async (tx): Promise<ReportWrite> => {
        if (setAsDefault) await clearDefault(tx);
        const [report] = await tx.query<ReportRecord>(
          `insert into report_definition
              (key, name, configuration_key, file_name, dimension_name_filter, columns, filters, is_default)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8) on conflict do nothing returning ${columns}`,
          [key, ...valuesOf(fields), setAsDefault],
        );
        noteAudited(key);
        if (report !== undefined) return { outcome: 'saved', report };
        throw new Taken();
      }),
    )
    .catch(asTaken);
}

/** @param change what the stored definition becomes; called under its row lock */
export async function updateReport(
  database: Database,
  key: string,
  change: (stored: ReportRecord) => ReportFields,
  setAsDefault: boolean,
): Promise<ReportWrite> {
  return database
    .transaction<ReportWrite>(async (tx) => {
      if (setAsDefault) await clearDefault(tx);
      const [stored] = await tx.query<ReportRecord>(
        `select ${columns} from report_definition where key = $1 for update`,
        [key],
      );
      if (stored === undefined) throw new Missing();
      const [report] = await tx.query<ReportRecord>(
        `update report_definition
          set name = $2, configuration_key = $3, file_name = $4, dimension_name_filter = $5, columns = $6::jsonb,
              filters = $7::jsonb, is_default = is_default or $8, updated_at = clock_timestamp()
        where key = $1 returning ${columns}`,
        [key, ...valuesOf(change(stored)), setAsDefault],
      );
      return { outcome: 'saved', report: report! };
    })
    .catch(asTaken);
}

/** Thrown so that what came before is rolled back. */
class Taken extends Error {}
class Missing extends Error {}

function asTaken(error: unknown): ReportWrite {
  if (error instanceof Missing) return { outcome: 'missing' };
  // 23505: unique violation.
  if (error instanceof Taken || (error as { code?: string }).code === '23505') return { outcome: 'taken' };
  throw error;
}

/** Definitions are few and changed rarely: whoever makes one the default does it alone. */
async function clearDefault(tx: Tx): Promise<void> {
  await tx.query('lock table report_definition in share row exclusive mode');
  await tx.query('update report_definition set is_default = false where is_default');
}

function valuesOf(fields: ReportFields): readonly unknown[] {
  const { name, configurationKey, fileName, dimensionNameFilter } = fields;
  const lists = [JSON.stringify(fields.columns), JSON.stringify(fields.filters)];
  return [name, configurationKey, fileName, dimensionNameFilter, ...lists];
}
