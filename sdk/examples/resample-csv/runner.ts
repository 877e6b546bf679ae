/** Resamples csv recordings of any size to a fixed rate, row by row, in constant memory. */
import { defineRunner, type Input } from '@simulation-data-platform/runner';
import { type ResampleOptions, resample } from './resample.ts';

export default defineRunner<ResampleOptions>({
  name: 'resample-csv',
  version: '1.0.0',
  templates: ['resample-csv'],
  async run(task) {
    const convert = async (input: Input) => {
      task.progress({ phase: 'resampling', message: input.outputIdentifier });
      // Output and watermark move together, so no recording is written twice and none is left out.
      const output = await task.write(resample(input.rows({ header: false }), task.configuration), {
        // Includes the run, so that a reprocess writes again, and the input, so that a repeat does not.
        identifier: `resampled-${input.outputId}-${task.runId}`,
        contentType: 'text/csv',
        // So that what a reprocess writes takes the place of this in dashboards.
        sourceKey: input.sourceKey,
        metadata: { source: input.outputIdentifier, rateHz: task.configuration.rateHz },
        watermark: input,
      });
      task.log.info(`resampled ${input.outputIdentifier}`, { sizeBytes: output.sizeBytes });
    };
    await task.eachNewInput(convert, { advance: 'by-hand' });
  },
});
