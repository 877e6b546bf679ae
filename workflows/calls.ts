/** How Temporal is called: with a deadline, and, where the caller does not wait, behind a breaker. */
import type { Connection, WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { traceHeader } from './contract.ts';

const callDeadlineMs = 2_000;
/** Most unawaited calls under way at once; more are left to the healer. */
const maxCallsUnderWay = 256;
/** After this many failures in a row no call is made for a while. */
const breakerFailures = 5;
const breakerPauseMs = 2_000;

export interface WorkflowClientLog {
  warn(facts: object, message: string): void;
}

/** Telemetry of the calls, and the trace that they carry. */
export interface WorkflowClientTelemetry {
  /** A call that was made, or left to the healer because Temporal does not answer. */
  called(result: 'ok' | 'failed' | 'skipped'): void;
  /** The trace in which a workflow is asked to reconcile, as a W3C `traceparent`. */
  traceparent(): string | null;
}

export const noTelemetry: WorkflowClientTelemetry = { called: () => undefined, traceparent: () => null };

export class WorkflowCalls {
  readonly #connection: Connection;
  readonly #log: WorkflowClientLog;
  readonly #telemetry: WorkflowClientTelemetry;
  readonly #underWay = new Set<Promise<void>>();
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(connection: Connection, log: WorkflowClientLog, telemetry: WorkflowClientTelemetry) {
    this.#connection = connection;
    this.#log = log;
    this.#telemetry = telemetry;
  }

  /** One call that the caller waits for; rejects when Temporal does not answer in time. */
  async make<T>(call: () => Promise<T>, deadlineMs = callDeadlineMs): Promise<T> {
    return this.#connection.withDeadline(Date.now() + deadlineMs, call);
  }

  /** One call that the caller does not await. It may be lost: the healer makes up for it. */
  send(call: () => Promise<void>): void {
    if (this.#underWay.size >= maxCallsUnderWay || performance.now() < this.#pausedUntilMs) {
      this.#telemetry.called('skipped');
      return;
    }
    const sent = this.make(call).then(
      () => {
        this.#failures = 0;
        this.#telemetry.called('ok');
      },
      (error: unknown) => this.#failed(error),
    );
    this.#underWay.add(sent);
    void sent.finally(() => this.#underWay.delete(sent));
  }

  /** Resolves when no unawaited call is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    this.#telemetry.called('failed');
    if (this.#failures >= breakerFailures) this.#pausedUntilMs = performance.now() + breakerPauseMs;
    this.#log.warn({ error: reasonOf(error) }, 'Temporal did not answer');
  }
}

/** With the cause: of its own calls the client only says which one failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Continues the sender's trace in the reconcile that a signal requests. */
export function tracing(telemetry: WorkflowClientTelemetry): WorkflowClientInterceptor {
  return {
    signalWithStart(input, next) {
      const traceparent = telemetry.traceparent();
      if (traceparent === null) return next(input);
      const headers = { ...input.headers, [traceHeader]: defaultPayloadConverter.toPayload(traceparent) };
      return next({ ...input, headers });
    },
  };
}
