/** W3C trace context as a line of text: how a trace continues over HTTP, in the database and through Temporal. */
import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api';

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what is no `traceparent`. Of later versions it reads this one's fields, as the recommendation says. */
export function parseTraceparent(text: string | null | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(text?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const context = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}
