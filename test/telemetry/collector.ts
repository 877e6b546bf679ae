/** A collector that accepts OTLP over HTTP as JSON, as an OpenTelemetry Collector does at port 4318. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

export interface Span {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Batch {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<
        Pick<Span, 'name' | 'traceId' | 'spanId'> & {
          readonly parentSpanId?: string;
          readonly attributes: readonly Attribute[];
        }
      >;
    }>;
  }>;
}

export interface Collector {
  readonly url: string;
  /** All spans so far. */
  readonly spans: readonly Span[];
  /** Requests that it refused, with why. */
  readonly refused: readonly string[];
}

/** Ends after the file's last test. */
export async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const isJson = request.headers['content-type'] === 'application/json';
    if (request.method !== 'POST' || request.url !== '/v1/traces' || !isJson) {
      refused.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      response.writeHead(404).end();
      return;
    }
    spans.push(...spansOf(JSON.parse(body) as Batch));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, refused };
}

function spansOf(batch: Batch): Span[] {
  return batch.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, traceId, spanId, parentSpanId, attributes }) => ({
        ...{ service, name, traceId, spanId, parentSpanId: parentSpanId || null },
        attributes: valuesOf(attributes),
      }));
  });
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Services and names of the spans of a trace from its root to this one. */
export function pathTo(trace: readonly Span[], span: Span): string[] {
  const parent = trace.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : pathTo(trace, parent)), `${span.service}: ${span.name}`];
}
