/** The activity of the report schedule's workflow: writing the file that is due. */
import { Readable } from 'node:stream';
import { limits } from '../domain/limits.ts';
import { isDatabaseAway } from '../domain/network/database-fault.ts';
import { orderedColumns, reportFileName } from '../domain/reports/report.ts';
import type { Database } from '../store/connection/database.ts';
import type { ReportDefinition } from '../store/entities/report-definition.ts';
import {
  type DataSourceRow,
  findDataSourceByName,
  platformDataSourceName,
} from '../store/objects/data-sources.ts';
import { isStoreAway, newObjectKey, ObjectTooLarge } from '../store/objects/object-store.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { writeCsv } from '../store/reports/csv.ts';
import { findReport } from '../store/reports/definitions.ts';
import { compileReport, type ReportPeople, reportRows } from '../store/reports/rows.ts';
import {
  acquireDueReport,
  type DueReport,
  failReport,
  keepReport,
  secondsUntilReport,
} from '../store/reports/scheduled-files.ts';
import { sparingMemory } from '../store/reports/spare-memory.ts';
import { writeXlsx } from '../store/reports/xlsx.ts';
import { activityNames } from '../workflows/contract.ts';
import { withHeartbeats } from './heartbeats.ts';
import type { ActivityServices } from './services.ts';

export interface ReportActivities {
  /** Writes the schedule's file if it is due. `nextInSeconds`: until the next one; null: none is scheduled. */
  [activityNames.writeReports](
    scheduleId: string,
  ): Promise<{ written: number; nextInSeconds: number | null }>;
}

/** Faults that are not those of a store or database that is away. */
const maxAttempts = 3;
/** A store or database may be away for so long. */
const awaySeconds = 3_600;

/** Kept files name people by their identifiers: who will read them is not known, and no address is stored. */
const people: ReportPeople = {
  shown: async (identifiers) => new Map(Array.from(identifiers, (id) => [id, { id, name: id, email: '' }])),
};

export function createReportActivities(services: ActivityServices): ReportActivities {
  return {
    async [activityNames.writeReports](scheduleId) {
      return await withHeartbeats(undefined, async (signal) => {
        const due = await acquireDueReport(services.database, scheduleId);
        const isWritten = due !== undefined && (await writeDue(services, due, signal));
        return {
          written: isWritten ? 1 : 0,
          nextInSeconds: await secondsUntilReport(services.database, scheduleId),
        };
      });
    },
  };
}

/** @throws what may go well at the next attempt */
async function writeDue(services: ActivityServices, due: DueReport, signal: AbortSignal): Promise<boolean> {
  try {
    return await writeFile(services, due, signal);
  } catch (error) {
    const isAway = isDatabaseAway(error) || isStoreAway(error);
    const isTriedAgain =
      !(error instanceof ObjectTooLarge) &&
      (signal.aborted || (isAway ? due.forSeconds < awaySeconds : due.attempt < maxAttempts));
    if (isTriedAgain) throw error;
    services.log.warn({ reportFileId: due.fileId, err: error }, 'a scheduled report was not written');
    await failReport(services.database, due, reasonOf(error));
    return false;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ObjectTooLarge)
    return `The file would be larger than ${limits.reportFileBytes / 1024 ** 2} MiB.`;
  if (isStoreAway(error)) return 'The object store did not answer.';
  if (isDatabaseAway(error)) return 'The database did not answer.';
  return 'The rows could not be read or the file could not be stored; the log of the worker says more.';
}

async function writeFile(services: ActivityServices, due: DueReport, signal: AbortSignal): Promise<boolean> {
  const { database, objects, pending } = services;
  const dataSource = await findDataSourceByName(database, platformDataSourceName);
  const report = await findReport(database, due.reportKey);
  if (dataSource === undefined || report === undefined) throw new Error('The store or the report is gone.');
  const content = new Content(database, report, due);
  const objectKey = newObjectKey('reports');
  const write = async () => {
    const stored = await storeContent(objects, dataSource, objectKey, content, signal);
    return await keepReport(database, due, {
      ...stored,
      fileName: reportFileName(report.fileName, due.format, due.dueAt),
      rows: content.rows,
      dataSourceId: dataSource.id,
      objectKey,
    });
  };
  return await pending.hold({ objectKey, dataSource }, write, (isKept) => isKept);
}

async function storeContent(
  objects: ObjectStores,
  dataSource: DataSourceRow,
  objectKey: string,
  content: Content,
  signal: AbortSignal,
) {
  const body = Readable.from(content.bytes(), { objectMode: false });
  try {
    const { sizeBytes, sha256 } = await objects
      .of(dataSource)
      .put(objectKey, body, { maxBytes: limits.reportFileBytes, signal });
    return { sizeBytes, sha256 };
  } catch (error) {
    // The store only says that its source broke.
    throw content.fault ?? error;
  } finally {
    body.destroy();
  }
}

/** The bytes of one report, which counts its rows and remembers why they ended. */
class Content {
  rows = 0;
  fault: unknown;
  readonly #database: Database;
  readonly #report: ReportDefinition;
  readonly #due: DueReport;

  constructor(database: Database, report: ReportDefinition, due: DueReport) {
    this.#database = database;
    this.#report = report;
    this.#due = due;
  }

  bytes(): AsyncGenerator<Buffer> {
    const columns = orderedColumns(this.#report.columns);
    const headings = columns.map(({ name }) => name);
    const file =
      this.#due.format === 'csv' ? writeCsv(headings, this.#counted()) : writeXlsx(columns, this.#counted());
    return sparingMemory(file);
  }

  async *#counted() {
    const { columns, filters, covers, dimensionNameFilter } = this.#report;
    const batches = reportRows(this.#database, compileReport(orderedColumns(columns), filters), {
      covers,
      filter: {
        from: this.#due.from ?? undefined,
        projectId: this.#due.projectId ?? undefined,
        nameContains: dimensionNameFilter === '' ? undefined : dimensionNameFilter,
      },
      people,
      annotationsFrom: this.#database,
    });
    try {
      for await (const batch of batches) {
        this.rows += batch.length;
        yield batch;
      }
    } catch (error) {
      this.fault = error;
      throw error;
    }
  }
}
