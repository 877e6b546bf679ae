/** Conversions in a separate process; started by `convert-isolated.ts`, which sends one input after the other and waits. */
import { flushCompileCache } from 'node:module';
import { endOnUnexpected, fatalLines } from '../../../../telemetry/unexpected.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { convertTabular } from './convert.ts';
import type { ConvertEnd, FromConvertChild, ToConvertChild } from './convert-messages.ts';

type Unmeasured<End> = End extends ConvertEnd ? Omit<End, 'residentBytes'> : never;

let conversion = Promise.resolve();
let isCompiledKept = false;
endOnUnexpected(fatalLines('conversion'), () => conversion);
process.on('disconnect', () => process.exit(0));
process.on('message', (input: ToConvertChild) => {
  conversion = convert(input).then((end) => {
    // The answer may be followed by the end of this process.
    if (!isCompiledKept) flushCompileCache();
    isCompiledKept = true;
    send({ ...end, residentBytes: process.memoryUsage.rss() });
  });
});

async function convert({ maxSeconds, ...input }: ToConvertChild): Promise<Unmeasured<ConvertEnd>> {
  // It interrupts the database's query under way.
  const time = AbortSignal.timeout(maxSeconds * 1_000);
  try {
    const conversion = await convertTabular({
      ...input,
      signal: time,
      onProgress: (progress) => send({ kind: 'progress', progress }),
    });
    return { kind: 'done', conversion };
  } catch (error) {
    if (time.aborted && error === time.reason) return { kind: 'late' };
    if (error instanceof TabularError) {
      const { message, line, column, columnName } = error;
      const place = { line, column, columnName };
      return { kind: 'refused', message, place, isEmpty: error instanceof NoTabularData };
    }
    return {
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

function send(message: FromConvertChild): void {
  process.send?.(message);
}
