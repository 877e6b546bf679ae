/**
 * Spans, for code that knows nothing of how they are exported. While tracing is off (see tracing.ts) nothing here has
 * an effect: work is called unchanged, and there is no current trace.
 */
import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from './trace-parent.ts';

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface SpanOptions {
  readonly kind?: keyof typeof kinds;
  /** A `traceparent` to continue; absent: the current span; null or no such text: a trace of its own. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
  readonly startTime?: Date;
}

let isOn = false;

/** Called by tracing.ts alone. */
export function setTracing(on: boolean): void {
  isOn = on;
}

export function isTracing(): boolean {
  return isOn;
}

const tracer = () => trace.getTracer('simulation-data-platform');

/** The current span as text, for work that continues elsewhere; null without one. */
export function currentTraceparent(): string | null {
  const span = isOn ? trace.getActiveSpan() : undefined;
  return span === undefined ? null : formatTraceparent(span.spanContext());
}

/** Trace and span of the current work, for log lines; nothing while there is none. */
export function currentTraceIds(): { readonly traceId?: string; readonly spanId?: string } {
  const span = isOn ? trace.getActiveSpan() : undefined;
  if (span === undefined) return {};
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}

/** Runs the work within a span, which ends with it and records what it throws. */
export async function traced<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (!isOn) return await work();
  const open = openSpan(name, options);
  try {
    return await open.within(work);
  } catch (error) {
    open.failed(error);
    throw error;
  } finally {
    open.end();
  }
}

/** A span that the caller ends. */
export interface OpenSpan {
  readonly traceparent: string;
  within<T>(work: () => T): T;
  set(attributes: Attributes): void;
  /** Records the kind of the failure without its message, which may quote what was sent. */
  failed(error?: unknown): void;
  end(): void;
}

/** Undefined while tracing is off. */
export function startSpan(name: string, options: SpanOptions): OpenSpan | undefined {
  return isOn ? openSpan(name, options) : undefined;
}

/**
 * A span over work that is already over.
 * @returns its `traceparent`; undefined while tracing is off
 */
export function recordSpan(name: string, options: SpanOptions, endTime: Date): string | undefined {
  if (!isOn) return undefined;
  const span = begin(name, options).span;
  span.end(endTime);
  return formatTraceparent(span.spanContext());
}

function begin(name: string, options: SpanOptions): { readonly span: Span; readonly within: Context } {
  const around = parentOf(options);
  const span = tracer().startSpan(
    name,
    {
      kind: kinds[options.kind ?? 'internal'],
      ...(options.attributes === undefined ? {} : { attributes: options.attributes }),
      ...(options.startTime === undefined ? {} : { startTime: options.startTime }),
    },
    around,
  );
  return { span, within: trace.setSpan(around, span) };
}

function parentOf({ parent }: SpanOptions): Context {
  if (parent === undefined) return context.active();
  const remote = parseTraceparent(parent);
  const base = trace.deleteSpan(context.active());
  return remote === undefined ? base : trace.setSpanContext(base, remote);
}

function openSpan(name: string, options: SpanOptions): OpenSpan {
  const { span, within } = begin(name, options);
  return {
    traceparent: formatTraceparent(span.spanContext()),
    within: (work) => context.with(within, work),
    set: (attributes) => void span.setAttributes(attributes),
    failed(error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error instanceof Error) span.setAttribute('error.type', error.name);
    },
    end: () => span.end(),
  };
}
