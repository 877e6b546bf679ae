/** Runners for the Simulation Data Platform. Start with {@link defineRunner}. */

export type { InputMode } from './src/calls/wire.ts';
export {
  ApiError,
  type CancelReason,
  type FailureCategory,
  NetworkError,
  TaskCancelled,
  TaskFailure,
} from './src/errors.ts';
export type { Progress } from './src/heartbeats/heartbeat-messages.ts';
export type { LineOptions, Row, RowOptions } from './src/inputs/delimited-text.ts';
export { Input, type InputInfo, type ReadLimit } from './src/inputs/inputs.ts';
export { jsonLines, type Log, type LogLevel } from './src/log.ts';
export type { LogFields, RunLogLevel } from './src/logs/log-entry.ts';
export type { RunLog } from './src/logs/task-log.ts';
export type { OutputOptions } from './src/outputs/output-headers.ts';
export type { WrittenOutput } from './src/outputs/outputs.ts';
export type { Bytes, Source } from './src/outputs/part-reader.ts';
export { runMain } from './src/run-main.ts';
export { SettingsError, type StartOptions } from './src/runner/options.ts';
export { defineRunner, isRunner, type Runner, type RunnerDefinition } from './src/runner/runner.ts';
export { type RunningRunner, startRunner } from './src/runner/start.ts';
export type { Annotation } from './src/task/annotation.ts';
export type { NodeState } from './src/task/node-state.ts';
export type { Completion, Outcome, RunResult } from './src/task/outcome.ts';
export type { BadInput, JsonObject, NewInputs, Task } from './src/task/task.ts';
export type { Watermark } from './src/task/watermark.ts';
