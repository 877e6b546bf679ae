/** One conversion in a separate process; started by `convert-isolated.ts`, which sends the input and waits. */
import { flushCompileCache } from 'node:module';
import { endOnUnexpected, fatalLines } from '../../../../telemetry/unexpected.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { convertTabular } from './convert.ts';
import type { FromConvertChild, ToConvertChild } from './convert-messages.ts';

let conversion = Promise.resolve();
endOnUnexpected(fatalLines('conversion'), () => conversion);
process.on('disconnect', () => process.exit(0));
process.once('message', (input: ToConvertChild) => {
  conversion = convert(input).then((answer) => {
    // The answer is followed by the end of this process.
    flushCompileCache();
    send(answer);
  });
});

async function convert({ maxSeconds, ...input }: ToConvertChild): Promise<FromConvertChild> {
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
