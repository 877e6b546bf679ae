/**
 * The conversion of one tabular upload to one Parquet file that series can be read from fast (decisions 11,
 * architecture 9).
 *
 * The Parquet file has the column `t`, milliseconds as DOUBLE, and a column `c<n>` for each channel: numbers as DOUBLE
 * (64-bit integers of a Parquet upload as BIGINT), booleans, and texts as they are. Rows are in order of time; rows of
 * the same time keep the order of the upload. A description is in the metadata (`recording.ts`), a coarse level before
 * it (`inspect.ts`).
 */
import { copyFile, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../../../domain/limits.ts';
import { defaultSampleRows, type TabularConfiguration } from '../configuration.ts';
import type { RecordingDescription } from '../description.ts';
import { Engine, exceedsMemory } from '../engine.ts';
import { TabularError } from '../errors.ts';
import { openCsv } from '../read/csv/source-csv.ts';
import { chooseReader, type Reader } from '../read/detect-format.ts';
import { encodingHint } from '../read/encoding.ts';
import { prepareInput } from '../read/prepare-input.ts';
import type { TableSource } from '../read/source.ts';
import { openJson } from '../read/source-json.ts';
import { openParquet } from '../read/source-parquet.ts';
import { type WriteSettings, type WrittenRecording, writeRecording } from '../recording/write-recording.ts';
import { planDuration, planTime } from '../time/time-column.ts';
import { OverDayError } from '../time/time-plan.ts';

export interface ConvertInput {
  /** The upload as stored: a local file, gzip or not. */
  inputPath: string;
  contentType: string | null;
  /** The upload's source key or else its identifier: the realm when `realmPerFile`. */
  outputIdentifier: string;
  source: { outputId: number; outputIdentifier: string };
  configuration: TabularConfiguration;
  /** Written by rename at the end; after a failure there is no file. */
  outputPath: string;
  /** An existing folder for temporary files, best on the file system of `outputPath`. */
  workDir: string;
  /** DuckDB's share; the process as a whole needs about 200 MB more. */
  memoryLimitBytes: number;
  /** Bound of unpacked uploads, and of data that spill from memory; default: the bound of all conversions. */
  maxTempBytes?: number;
  /** How many times its own size a packed upload may unpack to. */
  unpackRatio?: number;
  signal?: AbortSignal;
  /** Called now and then, at most twice a second. */
  onProgress?: (progress: ConvertProgress) => void;
}

export interface ConvertProgress {
  phase: 'reading' | 'converting' | 'finishing';
  /** Done part of the phase, 0 to 1; null when unknown. */
  fraction: number | null;
}

export interface Conversion {
  description: RecordingDescription;
  rowCount: number;
  sizeBytes: number;
}

/**
 * @throws NoTabularData when the file holds no rows or no channels (`whenNoOutputs` decides what follows)
 * @throws TabularError when the file is at fault (category `validation`)
 * @throws the signal's reason when it is aborted; other errors are this machine's (memory, disk)
 */
export async function convertTabular(input: ConvertInput): Promise<Conversion> {
  const folder = await mkdtemp(join(await realpath(input.workDir), 'tabular-'));
  let engine: Engine | undefined;
  let reader: Reader | undefined;
  const progress = startProgress(input.onProgress, () => engine?.progress ?? null);
  try {
    const maxTempBytes = input.maxTempBytes ?? limits.builtinTempBytes;
    const plain = await prepareInput({
      inputPath: input.inputPath,
      folder,
      maxPlainBytes: maxTempBytes,
      unpackRatio: input.unpackRatio ?? limits.builtinUnpackRatio,
      encoding: input.configuration.encoding ?? 'auto',
      signal: input.signal,
    });
    engine = await Engine.open({
      folder,
      memoryLimitBytes: input.memoryLimitBytes,
      spillLimitBytes: maxTempBytes,
      signal: input.signal,
    });
    reader = chooseReader(plain, input.configuration.inputFormat ?? 'auto', input.contentType);
    const source = await openSource(reader, engine, folder, plain, { ...input, maxTempBytes });
    if (plain.guessedEncoding !== null)
      source.warnings.push(`The text is not UTF-8; it was read as ${plain.guessedEncoding}. ${encodingHint}`);
    progress.enter('converting');
    const settings = {
      engine,
      source,
      configuration: input.configuration,
      identity: input.source,
      realm: realmOf(input),
      path: join(folder, 'recording.parquet'),
      maxTempBytes,
      onWritten: () => progress.enter('finishing'),
    };
    const { description, sizeBytes, path } = await writeWithTime(settings);
    input.signal?.throwIfAborted();
    await move(path, input.outputPath);
    return { description, rowCount: description.rowCount, sizeBytes };
  } catch (error) {
    throw exceedsMemory(error) ? neededMemory(input.memoryLimitBytes, reader) : error;
  } finally {
    progress.stop();
    engine?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rows of any number fit: only what one row holds, or very many texts that differ, can exceed the share. */
export function neededMemory(memoryLimitBytes: number, reader: Reader | undefined): TabularError {
  const megabytes = Math.round(memoryLimitBytes / 1024 ** 2);
  const other =
    reader === 'parquet'
      ? 'write it with smaller row groups, of 8,192 rows for example'
      : 'upload numbers as CSV or Parquet';
  return new TabularError(
    `The file needs more memory than a conversion has (${megabytes} MiB). Divide its columns among several files, or ${other}.`,
  );
}

async function writeWithTime(settings: Omit<WriteSettings, 'time'>): Promise<WrittenRecording> {
  const { engine, source, configuration } = settings;
  try {
    return await writeRecording({ ...settings, time: await planTime(engine, source, configuration) });
  } catch (error) {
    if (!(error instanceof OverDayError)) throw error;
    return writeRecording({ ...settings, time: await planDuration(engine, source, configuration) });
  }
}

async function openSource(
  reader: Reader,
  engine: Engine,
  folder: string,
  plain: Awaited<ReturnType<typeof prepareInput>>,
  input: ConvertInput & { readonly maxTempBytes: number },
): Promise<TableSource> {
  const { configuration, signal, maxTempBytes } = input;
  const maxRows = configuration.maxAutodetectSampleRows ?? defaultSampleRows;
  switch (reader) {
    case 'text':
      return openCsv({ input: plain, engine, folder, configuration, maxRows, signal });
    case 'json':
      return openJson({ input: plain, engine, folder, configuration, maxRows, signal });
    case 'parquet':
      return openParquet(engine, { path: plain.path, maxRows, maxPlainBytes: maxTempBytes });
  }
}

function realmOf(input: ConvertInput): string {
  return input.configuration.realmPerFile === true
    ? input.outputIdentifier
    : (input.configuration.defaultRealm ?? 'default');
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    await copyFile(from, to);
  }
}

const progressMilliseconds = 500;

function startProgress(
  report: ((progress: ConvertProgress) => void) | undefined,
  fraction: () => number | null,
): { enter: (phase: ConvertProgress['phase']) => void; stop: () => void } {
  let phase: ConvertProgress['phase'] = 'reading';
  const timer = setInterval(() => report?.({ phase, fraction: fraction() }), progressMilliseconds);
  timer.unref();
  return {
    enter: (next) => {
      phase = next;
    },
    stop: () => clearInterval(timer),
  };
}
