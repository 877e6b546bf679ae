/** Reads files in a separate process; started by `convert-isolated.ts`, which sends one file after the other and waits. */
import { flushCompileCache } from 'node:module';
import { endOnUnexpected, fatalLines } from '../../../../telemetry/unexpected.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { readDescription } from '../recording/describe.ts';
import { type ConvertProgress, convertTabular, neededMemory } from './convert.ts';
import type { ConvertEnd, FromConvertChild, ToConvertChild } from './convert-messages.ts';

type Unmeasured<End> = End extends ConvertEnd ? Omit<End, 'residentBytes'> : never;

/** Four times what the database gets for a conversion: only a file that was made to needs as much. */
const maxResidentBytes = 2 * 1024 ** 3;
const measureEveryMs = 50;

let work = Promise.resolve();
let isCompiledKept = false;
endOnUnexpected(fatalLines('conversion'), () => work);
process.on('disconnect', () => process.exit(0));
process.on('message', (input: ToConvertChild) => {
  const measuring = setInterval(refuseIfLarge, measureEveryMs);
  work = answerTo(input).then((end) => {
    clearInterval(measuring);
    // The answer may be followed by the end of this process.
    if (!isCompiledKept) flushCompileCache();
    isCompiledKept = true;
    send({ ...end, residentBytes: process.memoryUsage.rss() });
  });
});

/**
 * The database bounds the memory of its data, and not that of a Parquet file's metadata: some bytes declare gigabytes of
 * it. The answer ends this process.
 */
function refuseIfLarge(): void {
  const residentBytes = process.memoryUsage.rss();
  if (residentBytes <= maxResidentBytes) return;
  send({ ...refusal(neededMemory(maxResidentBytes, 'parquet')), residentBytes });
}

async function answerTo(input: ToConvertChild): Promise<Unmeasured<ConvertEnd>> {
  // It interrupts the database's query under way.
  const time = AbortSignal.timeout(input.maxSeconds * 1_000);
  try {
    return await endOf(input, time);
  } catch (error) {
    if (time.aborted && error === time.reason) return { kind: 'late' };
    if (error instanceof TabularError) return refusal(error);
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

async function endOf(input: ToConvertChild, signal: AbortSignal): Promise<Unmeasured<ConvertEnd>> {
  if (input.what === 'description')
    return { kind: 'described', description: await readDescription(input.path, signal) };
  const { what, maxSeconds, ...file } = input;
  const onProgress = (progress: ConvertProgress) => send({ kind: 'progress', progress });
  return { kind: 'done', conversion: await convertTabular({ ...file, signal, onProgress }) };
}

function refusal(error: TabularError) {
  const { message, line, column, columnName } = error;
  const isEmpty = error instanceof NoTabularData;
  return { kind: 'refused' as const, message, place: { line, column, columnName }, isEmpty };
}

function send(message: FromConvertChild): void {
  process.send?.(message);
}
