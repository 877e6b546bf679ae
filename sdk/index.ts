/** Runners for the Simulation Data Platform. Start with {@link defineRunner}. */
export type { LineOptions, Row, RowOptions } from './src/delimited-text.ts';
export {
  ApiError,
  type CancelReason,
  type FailureCategory,
  NetworkError,
  TaskCancelled,
  TaskFailure,
} from './src/errors.ts';
export type { Progress } from './src/heartbeat-messages.ts';
export { Input, type InputInfo, type ReadLimit } from './src/inputs.ts';
export { jsonLines, type Log, type LogLevel } from './src/log.ts';
export type { NodeState } from './src/node-state.ts';
export { SettingsError, type StartOptions } from './src/options.ts';
export type { Completion, Outcome, RunResult } from './src/outcome.ts';
export type { OutputOptions } from './src/output-headers.ts';
export type { WrittenOutput } from './src/outputs.ts';
export type { Bytes, Source } from './src/part-reader.ts';
export { runMain } from './src/run-main.ts';
export { defineRunner, isRunner, type Runner, type RunnerDefinition } from './src/runner.ts';
export { type RunningRunner, startRunner } from './src/start.ts';
export type { JsonObject, NewInputs, Task } from './src/task.ts';
export type { Watermark } from './src/watermark.ts';
export type { InputMode } from './src/wire.ts';
