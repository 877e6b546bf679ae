/**
 * Maintains an aggregate over all uploads, and reads only new ones. Aggregate and watermark are stored by one call, so
 * each table is added exactly once, wherever the process is killed.
 */
import { defineRunner, type Input, type Task, TaskFailure } from '@simulation-data-platform/runner';
import { type Aggregate, nothing, present, withTable } from './aggregate.ts';

interface Configuration {
  readonly column: string;
}

interface State {
  /** The last input in the aggregate. */
  readonly upTo: number;
  readonly aggregate: Aggregate;
}

type AggregationTask = Task<Configuration, State>;

export default defineRunner<Configuration, State>({
  name: 'incremental-aggregation',
  version: '1.0.0',
  templates: ['incremental-aggregation'],
  async run(task) {
    let aggregate = await aggregateAtWatermark(task);
    await task.eachNewInput(async (input) => {
      task.progress({ phase: 'adding', message: input.outputIdentifier });
      aggregate = await withInput(task, aggregate, input);
      // Stored together with the watermark, by the step that follows.
      task.state.set({ upTo: input.outputId, aggregate });
    });
    const { current } = task.watermark;
    if (current === null) return 'no-output';
    // Named after its last input: an attempt after a crash finds it, or writes it from the state.
    const identifier = `aggregate-${current}-${task.runId}`;
    // One source: each aggregate takes the place of the one before.
    await task.writeJson(present(aggregate), { identifier, sourceKey: 'aggregate' });
    // With `hasMore`, when the loop stopped at the cap.
    return 'completed';
  },
});

/** The stored aggregate when it ends exactly at the watermark; else, as in a reprocess, computed again up to there. */
async function aggregateAtWatermark(task: AggregationTask): Promise<Aggregate> {
  const { current } = task.watermark;
  if (current === null) return nothing;
  const state = await task.state.get();
  if (state?.upTo === current) return state.aggregate;
  let aggregate = nothing;
  for await (const input of task.inputs('all')) {
    aggregate = await withInput(task, aggregate, input);
    if (input.outputId === current) break;
  }
  return aggregate;
}

async function withInput(task: AggregationTask, before: Aggregate, input: Input): Promise<Aggregate> {
  try {
    return await withTable(before, input.rows({ header: false }), task.configuration.column);
  } catch (error) {
    // One broken file must not block the files after it.
    if (error instanceof TaskFailure) return { ...before, skipped: before.skipped + 1 };
    throw error;
  }
}
