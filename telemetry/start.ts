/** The telemetry of one process: begun before its first work, ended after its last. */
import { readFileSync } from 'node:fs';
import { processIs } from './metrics.ts';
import { describeProcess } from './registry.ts';
import { serveMetrics } from './server.ts';
import type { TelemetrySettings } from './settings.ts';
import { startTracing, type TracingLog } from './tracing.ts';

export type ProcessName = 'api' | 'auth' | 'worker' | 'worker-builtin' | 'runner-host';

export interface TelemetryLog extends TracingLog {
  info(facts: object, message: string): void;
}

export interface Telemetry {
  /** Exports the last spans and closes the port. */
  stop(): Promise<void>;
}

/**
 * Rejects when the metrics port is not available.
 * @param names what the process is, each; traces bear the first
 */
export async function startTelemetry(
  names: readonly [ProcessName, ...ProcessName[]],
  settings: TelemetrySettings,
  log: TelemetryLog,
): Promise<Telemetry> {
  processIs(names, ownVersion());
  describeProcess();
  const stopTracing = await startTracing(process.env, `sdp-${names[0]}`, log);
  const { METRICS_PORT, METRICS_HOST } = settings;
  const server =
    METRICS_PORT === undefined ? undefined : await serveMetrics({ port: METRICS_PORT, host: METRICS_HOST });
  if (server !== undefined) log.info({ metricsPort: server.port }, 'metrics are served');
  return {
    async stop() {
      await Promise.all([server?.stop(), stopTracing()]);
    },
  };
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
}
