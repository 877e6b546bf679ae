/** One conversion in a separate process; started by `convert-isolated.ts`, which sends the input and waits. */
import { endOnUnexpected, fatalLines } from '../../../../telemetry/unexpected.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { convertTabular } from './convert.ts';
import type { FromConvertChild, ToConvertChild } from './convert-messages.ts';

let conversion = Promise.resolve();
endOnUnexpected(fatalLines('conversion'), () => conversion);
process.on('disconnect', () => process.exit(0));
process.once('message', (input: ToConvertChild) => {
  conversion = convert(input);
});

async function convert({ maxSeconds, ...input }: ToConvertChild): Promise<void> {
  // It interrupts the database's query under way.
  const time = AbortSignal.timeout(maxSeconds * 1_000);
  try {
    const conversion = await convertTabular({
      ...input,
      signal: time,
      onProgress: (progress) => send({ kind: 'progress', progress }),
    });
    send({ kind: 'done', conversion });
  } catch (error) {
    if (time.aborted && error === time.reason) send({ kind: 'late' });
    else if (error instanceof TabularError) {
      const { message, line, column, columnName } = error;
      send({
        kind: 'refused',
        message,
        place: { line, column, columnName },
        isEmpty: error instanceof NoTabularData,
      });
    } else
      send({
        kind: 'failed',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
  }
}

function send(message: FromConvertChild): void {
  process.send?.(message);
}
