/** What the platform counts and measures, each described in docs/reference/metrics.md. Units come last in the names. */
import { Counter, Gauge, Histogram } from 'prom-client';
import { registry, templateLabel } from './registry.ts';

const registers = [registry];

const httpSeconds = new Histogram({
  name: 'sdp_http_request_seconds',
  help: 'Duration of requests by route, from the head of the request to the end of the response; a claim includes its wait.',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  registers,
});

const uploadBytes = new Counter({
  name: 'sdp_upload_bytes_total',
  help: 'Bytes received and stored.',
  labelNames: ['kind'] as const,
  registers,
});

const uploadSeconds = new Histogram({
  name: 'sdp_upload_seconds',
  help: 'Duration from the first requested byte until the object is stored or abandoned.',
  labelNames: ['kind', 'result'] as const,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  registers,
});

const claimSeconds = new Histogram({
  name: 'sdp_claim_latency_seconds',
  help: 'Duration from the time an attempt can be claimed until a runner or worker holds it.',
  labelNames: ['template'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800],
  registers,
});

const leasesLost = new Counter({
  name: 'sdp_leases_lost_total',
  help: 'Used claims that ended without an outcome: the lease expired, or another claim of the instance released it.',
  labelNames: ['template'] as const,
  registers,
});

const runsEnded = new Counter({
  name: 'sdp_runs_ended_total',
  help: 'Ended runs by outcome.',
  labelNames: ['template', 'outcome'] as const,
  registers,
});

const attemptsFailed = new Counter({
  name: 'sdp_attempts_failed_total',
  help: 'Failed and lost attempts by category, including those that are retried.',
  labelNames: ['template', 'category'] as const,
  registers,
});

const temporalCalls = new Counter({
  name: 'sdp_temporal_calls_total',
  help: 'Calls to Temporal after commits; skipped: left to the healer because Temporal is unavailable.',
  labelNames: ['result'] as const,
  registers,
});

/**
 * `upload`: by a person or device; `ingest`: at a managed ingest; `output`, `part`: by a runner; `piece`: of a resumable
 * upload.
 */
export type UploadKind = 'upload' | 'ingest' | 'output' | 'part' | 'piece';

export type CallResult = 'ok' | 'failed' | 'skipped';

/** @param route its path as the interface lists it, `{name}` for what varies */
export function requestServed(method: string, route: string, status: number, seconds: number): void {
  httpSeconds.observe({ method, route, status }, seconds);
}

/** @param storedBytes null when nothing was stored */
export function uploadEnded(kind: UploadKind, seconds: number, storedBytes: number | null): void {
  if (storedBytes !== null) uploadBytes.inc({ kind }, storedBytes);
  uploadSeconds.observe({ kind, result: storedBytes === null ? 'failed' : 'stored' }, seconds);
}

/** @param seconds since the attempt could be claimed; null when it had been held before */
export function taskClaimed(template: string, seconds: number | null): void {
  if (seconds !== null) claimSeconds.observe({ template: templateLabel(template) }, Math.max(0, seconds));
}

export function leaseLost(template: string): void {
  leasesLost.inc({ template: templateLabel(template) });
}

export function runEnded(template: string, outcome: string): void {
  runsEnded.inc({ template: templateLabel(template), outcome });
}

export function attemptFailed(template: string, category: string): void {
  attemptsFailed.inc({ template: templateLabel(template), category });
}

export function temporalCalled(result: CallResult): void {
  temporalCalls.inc({ result });
}

/** The counters of the driver's connection pool. */
interface WatchedPool {
  readonly options: { readonly max?: number };
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

const pools = new Map<string, Set<WatchedPool>>();

/** @param name `platform`, `reports` or `auth`. @returns a function that removes it */
export function watchPool(name: string, pool: WatchedPool): () => void {
  const known = pools.get(name) ?? new Set();
  pools.set(name, known.add(pool));
  return () => void known.delete(pool);
}

function poolGauge(name: string, help: string, value: (pool: WatchedPool) => number): void {
  new Gauge({
    name,
    help,
    labelNames: ['pool'] as const,
    registers,
    collect() {
      this.reset();
      for (const [name, known] of pools) {
        for (const pool of known) this.inc({ pool: name }, value(pool));
      }
    },
  });
}

poolGauge(
  'sdp_pool_connections_max',
  'Database connections that the pool may open.',
  ({ options }) => options.max ?? 0,
);
poolGauge(
  'sdp_pool_connections_used',
  'Database connections in use.',
  (pool) => pool.totalCount - pool.idleCount,
);
poolGauge('sdp_pool_connections_idle', 'Idle open database connections.', (pool) => pool.idleCount);
poolGauge('sdp_pool_waiting', 'Callers waiting for a database connection.', (pool) => pool.waitingCount);

const processInfo = new Gauge({
  name: 'sdp_process_info',
  help: 'Always 1; its labels have the name and version of this process, once for each part that it is.',
  labelNames: ['process', 'version'] as const,
  registers,
});

export function processIs(names: readonly string[], version: string): void {
  processInfo.reset();
  for (const process of names) processInfo.set({ process, version }, 1);
}
