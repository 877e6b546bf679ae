/** Report definitions (contract: Dashboard support; decisions 12). */
import { LockMode } from '@mikro-orm/core';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { onUniqueViolation } from '../entities/refusals.ts';
import { ReportDefinition } from '../entities/report-definition.ts';
import { now } from '../entities/times.ts';

const listed = ['key', 'name', 'configurationKey', 'isDefault'] as const;
const settable = [
  'name',
  'configurationKey',
  'fileName',
  'dimensionNameFilter',
  'covers',
  'columns',
  'filters',
] as const;

export type ReportFields = Pick<ReportDefinition, (typeof settable)[number]>;

export type ReportWrite =
  | { readonly outcome: 'saved'; readonly report: ReportDefinition }
  | { readonly outcome: 'missing' | 'taken' | 'overtaken' };

/** All definitions by key. */
export async function listReports({
  em,
}: EntityReader): Promise<Array<Pick<ReportDefinition, (typeof listed)[number]>>> {
  return em.find(ReportDefinition, {}, { fields: listed, orderBy: { key: 'asc' } });
}

/** @param key undefined: the default report */
export async function findReport(
  { em }: EntityReader,
  key: string | undefined,
): Promise<ReportDefinition | undefined> {
  return (await em.findOne(ReportDefinition, key === undefined ? { isDefault: true } : { key })) ?? undefined;
}

/** `taken` when another has the key or the configuration key. */
export async function createReport(
  database: Database,
  key: string,
  fields: ReportFields,
  setAsDefault: boolean,
): Promise<ReportWrite> {
  const work = async (tx: Tx): Promise<ReportWrite> => {
    if (setAsDefault) await clearDefault(tx, key);
    const report = tx.em.create(ReportDefinition, { key, ...picked(fields), isDefault: setAsDefault });
    noteAudited(key);
    await tx.em.flush();
    return { outcome: 'saved', report };
  };
  return database.transaction(oncePerKey(work)).catch(onUniqueViolation({ outcome: 'taken' }));
}

export interface ReportChange {
  readonly key: string;
  /** Which of its revisions may be changed. */
  readonly isExpected: (revision: number) => boolean;
  readonly setAsDefault: boolean;
}

/** @param change what the stored definition becomes; called under its row lock */
export async function updateReport(
  database: Database,
  { key, isExpected, setAsDefault }: ReportChange,
  change: (stored: ReportDefinition) => ReportFields,
): Promise<ReportWrite> {
  const work = async (tx: Tx): Promise<ReportWrite> => {
    await lockDefinitions(tx, setAsDefault);
    const report = await tx.em.findOne(ReportDefinition, key, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (report === null) return { outcome: 'missing' };
    if (!isExpected(report.revision)) return { outcome: 'overtaken' };
    if (setAsDefault) await clearDefault(tx, key);
    const fields = picked(change(report));
    // A list that was not sent is the stored one itself.
    const isChanged = setAsDefault || settable.some((name) => fields[name] !== report[name]);
    if (isChanged) Object.assign(report, fields, { revision: report.revision + 1, updatedAt: now() });
    report.isDefault ||= setAsDefault;
    await tx.em.flush();
    return { outcome: 'saved', report };
  };
  return database.transaction(work).catch(onUniqueViolation({ outcome: 'taken' }));
}

/**
 * Definitions are few and changed rarely, so changes of the default run one at a time. Every change locks the table
 * before the row of its report: one that waited for the table while it held the row would be a deadlock.
 */
async function lockDefinitions(tx: Tx, changesDefault: boolean): Promise<void> {
  await tx.query(`lock table report_definition in ${changesDefault ? 'share row' : 'row'} exclusive mode`);
}

/** @param key of the new default report */
async function clearDefault(tx: Tx, key: string): Promise<void> {
  await lockDefinitions(tx, true);
  await tx.em.nativeUpdate(ReportDefinition, { isDefault: true, key: { $ne: key } }, { isDefault: false });
}

const picked = (fields: ReportFields) =>
  Object.fromEntries(settable.map((name) => [name, fields[name]])) as unknown as ReportFields;
