/** Tests of a runner without a platform: {@link testTask} for inputs of your own, {@link runCase} for saved cases. */

export type { LogEntry } from './src/logs/log-entry.ts';
export type { LocalOutput, LocalRejection } from './src/testing/local-calls.ts';
export type { TaskResult } from './src/testing/local-run.ts';
export { CaseError, type CaseResult, runCase } from './src/testing/saved-case.ts';
export { type Testable, type TestInput, type TestTaskOptions, testTask } from './src/testing/test-task.ts';
