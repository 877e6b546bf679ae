/** One conversion in a process of its own; started by `convert-isolated.ts`, which sends the input and waits. */
import { type ConvertInput, convertTabular } from './convert.ts';
import type { FromConvertChild } from './convert-isolated.ts';
import { NoTabularData, TabularError } from './errors.ts';

process.on('disconnect', () => process.exit(0));
process.once('message', (input: Omit<ConvertInput, 'signal' | 'onProgress'>) => {
  void convert(input);
});

async function convert(input: Omit<ConvertInput, 'signal' | 'onProgress'>): Promise<void> {
  try {
    const conversion = await convertTabular({
      ...input,
      onProgress: (progress) => send({ kind: 'progress', progress }),
    });
    send({ kind: 'done', conversion });
  } catch (error) {
    if (error instanceof TabularError) {
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
