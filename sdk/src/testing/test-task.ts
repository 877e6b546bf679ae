/** A task for the tests of a runner, without a platform. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { defineRunner, isRunner, type Runner, type RunnerDefinition } from '../runner/runner.ts';
import type { JsonObject } from '../task/task.ts';
import type { LocalInput } from './local-calls.ts';
import { runLocally, type TaskResult } from './local-run.ts';

export interface TestInput {
  /** Text or bytes; or `file`. */
  readonly bytes?: string | Uint8Array;
  /** The path of a file with the bytes. */
  readonly file?: string;
  /** Default: the name of the file, else `input-<n>`. */
  readonly identifier?: string;
  readonly contentType?: string;
  readonly metadata?: JsonObject;
  /** The parent node; default `input`. */
  readonly nodeName?: string;
  /** Stored compressed. */
  readonly gzip?: boolean;
}

export interface TestTaskOptions {
  /** Oldest first; their ids are 1, 2, 3 and so on. */
  readonly inputs?: readonly (string | Uint8Array | TestInput)[];
  readonly configuration?: JsonObject;
  /** The state of the node before the task. */
  readonly state?: JsonObject;
  /** Id of the last consumed input. */
  readonly watermark?: number;
  /** The most inputs that the task gets; default 100. */
  readonly maxInputsPerTask?: number;
  readonly attempt?: number;
  /** Cancels the run when it is aborted, as an operator does. */
  readonly cancel?: AbortSignal;
  /** Aborted as at SIGTERM. */
  readonly stopping?: AbortSignal;
}

/** What {@link testTask} and `runCase` run: a runner, its definition, or just its function. */
// biome-ignore lint/suspicious/noExplicitAny: of any configuration and state.
export type Testable = Partial<RunnerDefinition<any, any>> | RunnerDefinition<any, any>['run'];

/**
 * Runs a runner on a task in memory, with the inputs and the node that the options describe.
 * @returns how it ended and what it wrote; what the code throws is `error` of it
 */
export async function testTask(runner: Testable, options: TestTaskOptions = {}): Promise<TaskResult> {
  const names = new Set<string>();
  const inputs = (options.inputs ?? []).map((given, at) => {
    const input = typeof given === 'string' || given instanceof Uint8Array ? { bytes: given } : given;
    names.add(input.nodeName ?? 'input');
    return localInput(input, at + 1, [...names].indexOf(input.nodeName ?? 'input') + 1);
  });
  const { attempt = 1, maxInputsPerTask = 100 } = options;
  return await runLocally({
    runner: asRunner(runner),
    claim: {
      taskId: '00000000-0000-4000-8000-000000000001',
      runId: 'test-run',
      attempt,
      maxAttempts: Math.max(3, attempt),
      reason: attempt > 1 ? 'retry' : 'input',
      projectId: 1,
      sessionId: '00000000-0000-4000-8000-000000000002',
      sessionName: 'Test',
      nodeInstanceId: 100,
      nodeName: 'under-test',
      nodeTemplate: 'under-test',
      runnerType: 'under-test',
      configuration: options.configuration ?? {},
      parents: [...names].map((name, at) => ({ nodeInstanceId: at + 1, name })),
      claimedAt: new Date().toISOString(),
      leaseExpiresAt: new Date(Date.now() + 30_000).toISOString(),
      heartbeatIntervalSeconds: 10,
      traceparent: null,
    },
    node: {
      inputs,
      watermark: options.watermark ?? null,
      state: options.state ?? null,
      previousOutput: null,
      sinceWatermark: undefined,
      latest: undefined,
      maxInputsPerTask,
    },
    cancel: options.cancel,
    stopping: options.stopping,
  });
}

export function asRunner(runner: Testable): Runner {
  if (isRunner(runner)) return runner;
  const definition = typeof runner === 'function' ? { run: runner } : runner;
  return defineRunner({ name: 'under-test', templates: [], ...definition } as RunnerDefinition);
}

function plainBytes({ bytes, file }: TestInput, outputId: number): Buffer {
  if (file !== undefined) return readFileSync(file);
  if (bytes === undefined) throw new TypeError(`Input ${outputId} of the test has neither bytes nor a file.`);
  return Buffer.from(bytes);
}

function localInput(input: TestInput, outputId: number, nodeInstanceId: number): LocalInput {
  const plain = plainBytes(input, outputId);
  const bytes = input.gzip === true ? gzipSync(plain) : plain;
  return {
    wire: {
      outputId,
      nodeInstanceId,
      nodeName: input.nodeName ?? 'input',
      outputIdentifier:
        input.identifier ?? (input.file === undefined ? `input-${outputId}` : basename(input.file)),
      contentType: input.contentType ?? null,
      contentEncoding: input.gzip === true ? 'gzip' : null,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      metadata: input.metadata ?? null,
      createdAt: new Date().toISOString(),
    },
    open: () => Readable.from([bytes]),
  };
}
