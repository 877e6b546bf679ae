/**
 * Where spans go: to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, by OTLP over HTTP as JSON. Without that
 * variable the SDK is not even loaded. Further variables are those of the OpenTelemetry specification.
 */
import { context, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import { setTracing } from './trace.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface TracingLog {
  warn(facts: object, message: string): void;
}

/** Sends what is left, for at most some seconds. */
export type StopTracing = () => Promise<void>;

const nothing: StopTracing = async () => undefined;
const lastExportMs = 5_000;
const logAgainMs = 60_000;

/**
 * Starts tracing if the environment configures it. Once per process.
 * @param service name of the process in the traces, unless `OTEL_SERVICE_NAME` sets another
 */
export async function startTracing(
  environment: Environment,
  service: string,
  log: TracingLog,
): Promise<StopTracing> {
  const endpoint =
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT || '';
  const isOff =
    environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none';
  if (endpoint === '' || isOff) return nothing;
  const [sdk, exporters, resources, { AsyncLocalStorageContextManager }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/context-async-hooks'),
  ]);
  diag.setLogger(throttled(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const own = resources.resourceFromAttributes({
    'service.name': environment.OTEL_SERVICE_NAME || service,
    'service.namespace': 'simulation-data-platform',
    'process.pid': process.pid,
  });
  const detected = resources.detectResources({ detectors: [resources.resourceAttributesEnvDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(detected).merge(own),
    sampler: samplerOf(sdk, environment, log),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new exporters.OTLPTraceExporter(),
        ...numberOf(environment.OTEL_BSP_SCHEDULE_DELAY, 'scheduledDelayMillis'),
        ...numberOf(environment.OTEL_BSP_MAX_QUEUE_SIZE, 'maxQueueSize'),
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  setTracing(true);
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= Promise.race([
      provider.shutdown().catch(() => undefined),
      new Promise<void>((resolve) => setTimeout(resolve, lastExportMs).unref()),
    ]).then(() => setTracing(false));
    return stopped;
  };
}

function numberOf<Name extends string>(text: string | undefined, name: Name): { [N in Name]?: number } {
  const value = Number(text ?? '');
  return text !== undefined && text !== '' && Number.isFinite(value) && value > 0
    ? ({ [name]: value } as { [N in Name]?: number })
    : {};
}

/** `OTEL_TRACES_SAMPLER` with `OTEL_TRACES_SAMPLER_ARG`; by default all, unless the caller's trace is not sampled. */
function samplerOf(
  sdk: typeof import('@opentelemetry/sdk-trace'),
  environment: Environment,
  log: TracingLog,
): Sampler {
  const asked = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const given = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1');
  const ratio = given >= 0 && given <= 1 ? given : 1;
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  const isParentBased = asked.startsWith('parentbased_');
  const root = roots[isParentBased ? asked.slice('parentbased_'.length) : asked];
  if (root === undefined) {
    log.warn({ sampler: asked }, 'OTEL_TRACES_SAMPLER has an unknown value: every trace is kept');
    return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  }
  return isParentBased ? new sdk.ParentBasedSampler({ root: root() }) : root();
}

/** A collector that is down would otherwise fill the log: each message is logged once a minute. */
function throttled(log: TracingLog) {
  const loggedAtMs = new Map<string, number>();
  const report = (message: string) => {
    const key = message.slice(0, 100);
    const now = Date.now();
    if (now - (loggedAtMs.get(key) ?? 0) < logAgainMs) return;
    if (loggedAtMs.size >= 100) loggedAtMs.clear();
    loggedAtMs.set(key, now);
    log.warn({ detail: key }, 'traces could not be exported');
  };
  const quiet = () => undefined;
  return { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet };
}
