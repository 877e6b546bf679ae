/** Puts the description of a recording together, and reads it back from its file. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { startOf } from '../../../../domain/text.ts';
import type { TabularConfiguration } from '../configuration.ts';
import {
  descriptionKey,
  type RecordingChannel,
  type RecordingDescription,
  recordingDescriptionSchema,
  recordingLimits,
} from '../description.ts';
import { Engine } from '../engine.ts';
import { TabularError } from '../errors.ts';
import type { ReadAs } from '../read/source.ts';
import { unreadable } from '../read/source-parquet.ts';
import { readHeading, readUnit } from '../text/heading.ts';
import type { ColumnFacts } from './block.ts';
import { type Group, groupNames, nameColumns } from './headings.ts';
import { suggestLayout } from './layout.ts';

export interface DescribedColumn {
  heading: string;
  unit: string | null;
  column: string;
  readAs: ReadAs;
  nullCount: number;
  facts: ColumnFacts | null;
}

export interface DescribeSettings {
  identity: RecordingDescription['source'];
  format: RecordingDescription['format'];
  realm: string;
  configuration: TabularConfiguration;
  columns: readonly DescribedColumn[];
  columnCount: number;
  rowCount: number;
  time: { kind: 'absolute' | 'relative'; from: number; to: number; name: string | null; isSorted: boolean };
  warnings: readonly string[];
  overview: RecordingDescription['overview'] | undefined;
}

export function describeRecording(settings: DescribeSettings): RecordingDescription {
  const { configuration, time } = settings;
  const { channels, groups } = describeChannels(settings);
  return {
    version: 1,
    source: settings.identity,
    format: settings.format,
    realms: [settings.realm],
    groups,
    channels,
    time: {
      column: 't',
      kind: time.kind,
      from: time.from,
      to: time.to,
      name: time.name === null ? null : startOf(time.name, recordingLimits.nameCharacters),
      basis: time.name === null ? 'row-number' : 'column',
      sorted: time.isSorted,
    },
    rowCount: settings.rowCount,
    columnCount: settings.columnCount,
    warnings: settings.warnings
      .slice(0, recordingLimits.warnings)
      .map((warning) => startOf(warning, recordingLimits.warningCharacters)),
    ...(configuration.emitSuggestedLayout === true
      ? { suggestedLayout: suggestLayout(channels, groups) }
      : {}),
    ...(settings.overview === undefined ? {} : { overview: settings.overview }),
  };
}

function describeChannels(settings: DescribeSettings): { channels: RecordingChannel[]; groups: Group[] } {
  const { columns, configuration, realm } = settings;
  const headings = columns.map(({ heading, unit }) => {
    const read = readHeading(heading);
    return unit === null ? read : { name: read.name, unit: readUnit(unit) };
  });
  const named = nameColumns(headings);
  const { groupOf, groups } = groupNames(
    named.map(({ name }) => name),
    configuration,
  );
  const channels = columns.map((column, index): RecordingChannel => {
    const { id, name } = named[index] as { id: string; name: string };
    const facts = column.facts === null || column.facts.values === 0 ? null : column.facts;
    const isNumeric = column.readAs === 'DOUBLE' || column.readAs === 'BIGINT';
    return {
      id,
      name,
      unit: headings[index]?.unit ?? null,
      type: typeOf(column.readAs, facts),
      group: groupOf[index] as string,
      realm,
      column: column.column,
      nullCount: column.nullCount,
      ...(isNumeric ? { min: facts?.min ?? null, max: facts?.max ?? null, ...spreadOf(facts) } : {}),
    };
  });
  return { channels, groups };
}

/** Null also where squares of the values are beyond the largest number. */
function spreadOf(facts: ColumnFacts | null): Pick<RecordingChannel, 'mean' | 'standardDeviation'> {
  const [count = 0, mean = 0, squares = 0] = facts?.moments ?? [];
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  return {
    mean: count === 0 ? null : finite(mean),
    standardDeviation: count < 2 ? null : finite(Math.sqrt(squares / (count - 1))),
  };
}

function typeOf(readAs: ReadAs, facts: ColumnFacts | null): RecordingChannel['type'] {
  if (readAs === 'BOOLEAN') return 'boolean';
  if (readAs === 'BIGINT') return 'integer';
  if (readAs !== 'DOUBLE') return 'text';
  return facts?.areIntegers === true ? 'integer' : 'number';
}

const readingMemoryBytes = 256 * 1024 * 1024;

/**
 * Reads the description out of a converted recording. Call it in a process that reads files: another program may have
 * written this one.
 * @throws TabularError when the file is not a recording of this platform
 */
export async function readDescription(
  parquetPath: string,
  signal?: AbortSignal,
): Promise<RecordingDescription> {
  const path = await realpath(parquetPath);
  const engine = await Engine.open({
    folder: dirname(path),
    memoryLimitBytes: readingMemoryBytes,
    spillLimitBytes: 0,
    signal,
  });
  try {
    const rows = await engine.rows({
      sql: 'SELECT decode(value) FROM parquet_kv_metadata($1) WHERE decode(key) = $2',
      parameters: [path, descriptionKey],
    });
    return parsedDescription(rows[0]?.[0]);
  } catch (error) {
    throw unreadable(error) ?? error;
  } finally {
    engine.close();
  }
}

function parsedDescription(text: unknown): RecordingDescription {
  try {
    return recordingDescriptionSchema.parse(JSON.parse(String(text)));
  } catch {
    throw new TabularError('The Parquet file has no description of a recording.');
  }
}
