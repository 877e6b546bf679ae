/** The greatest value of one column of each recording. */
import { defineRunner, TaskFailure } from '@simulation-data-platform/runner';

/** The node's configuration; its schema is in the manifest. */
interface Configuration {
  readonly column?: string;
}

export default defineRunner<Configuration>({
  name: 'my-runner',
  version: '0.1.0',
  templates: ['my-runner'],
  // A recording that lacks the column is rejected, with the reason.
  onBadInput: 'reject',
  async run(task) {
    const { column = 'speed' } = task.configuration;
    await task.eachNewInput(async (recording) => {
      let top = Number.NEGATIVE_INFINITY;
      let rows = 0;
      for await (const row of recording.rows()) {
        top = Math.max(top, numberOf(row, column));
        rows += 1;
      }
      if (rows === 0) throw new TaskFailure('validation', 'there are no rows');
      task.log.info(`${recording.outputIdentifier} has ${rows} rows`);
      const result = { recording: recording.outputIdentifier, top, rows };
      // By its source key, what a reprocess writes takes the place of this in dashboards.
      await task.writeJson(result, { sourceKey: recording.sourceKey });
    });
  },
});

function numberOf(row: Readonly<Record<string, string>>, column: string): number {
  const text = row[column]?.trim() ?? '';
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new TaskFailure('validation', `there is no number in column ${column}`);
}
