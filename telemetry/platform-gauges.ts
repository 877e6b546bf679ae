/**
 * Gauges that are read from elsewhere at each scrape: the queue, sessions that wait, and which parts answer.
 *
 * A scrape never waits long for a failing part: each read has a time limit, at most one of each is under way, and a
 * metric of its own shows the part that did not answer while its gauges are left out.
 */
import { Gauge } from 'prom-client';
import { registry, runnerTypeLabel, templateLabel, withLimit } from './registry.ts';

const registers = [registry];
const readLimitMs = 2_000;
/** Several scrapers within a second share one read. */
const keptMs = 1_000;

interface QueueOf {
  readonly template: string;
  readonly tasks: number;
  readonly oldestSeconds: number;
  readonly runnerType: string | null;
  /** Runners that can claim its tasks; null where the platform runs them itself. */
  readonly runners: number | null;
}

/** The result of one read of the database. */
interface PlatformState {
  readonly queues: readonly QueueOf[];
  /** Sessions whose last change their workflow has not reconciled, and for how long the longest. */
  readonly sessionsWanted: number;
  readonly wantedOldestSeconds: number;
  /** Uploads of projects with queued ingestion that are not published yet. */
  readonly uploadsQueued: number;
  readonly uploadsOldestSeconds: number;
  readonly webhookOldestSeconds: number;
}

type Part = 'database' | 'storage' | 'temporal';

export interface PlatformReads {
  readonly state: () => Promise<PlatformState>;
  /** Each rejects when its part does not answer. */
  readonly parts: Readonly<Record<Part, () => Promise<unknown>>>;
  readonly claimsWaiting: () => number;
}

const sources = new Set<Source>();

/** Adds these to every scrape of this process. @returns a function that removes them */
export function watchPlatform(reads: PlatformReads): () => void {
  const source = new Source(reads);
  sources.add(source);
  return () => void sources.delete(source);
}

/** Await this before the registry is read: the gauges then show the results of the reads. */
export async function readPlatform(): Promise<void> {
  await Promise.all([...sources].map((source) => source.read()));
}

/** Reads again at most once a second, and never while the last read is under way. */
class Shared<T> {
  readonly #ask: () => Promise<T>;
  #last: Promise<T> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #isOut = false;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  async get(): Promise<T> {
    if (this.#last === undefined || (!this.#isOut && performance.now() - this.#askedAtMs >= keptMs)) {
      this.#askedAtMs = performance.now();
      this.#isOut = true;
      this.#last = this.#ask().finally(() => {
        this.#isOut = false;
      });
      this.#last.catch(() => undefined);
    }
    return await withLimit(this.#last, readLimitMs);
  }
}

class Source {
  readonly claimsWaiting: () => number;
  state: PlatformState | undefined;
  stateSeconds = 0;
  readonly up = new Map<Part, boolean>();
  readonly #state: Shared<PlatformState>;
  readonly #parts: readonly (readonly [Part, Shared<unknown>])[];

  constructor(reads: PlatformReads) {
    this.claimsWaiting = reads.claimsWaiting;
    this.#state = new Shared(reads.state);
    this.#parts = (Object.keys(reads.parts) as Part[]).map((part) => [part, new Shared(reads.parts[part])]);
  }

  async read(): Promise<void> {
    const readState = async () => {
      const startedAtMs = performance.now();
      this.state = await this.#state.get().catch(() => undefined);
      this.stateSeconds = (performance.now() - startedAtMs) / 1000;
    };
    const ask = async (part: Part, shared: Shared<unknown>) => {
      const isUp = await shared.get().then(
        () => true,
        () => false,
      );
      this.up.set(part, isUp);
    };
    await Promise.all([readState(), ...this.#parts.map(([part, shared]) => ask(part, shared))]);
  }
}

function gauge(name: string, help: string, value: (source: Source) => number | undefined): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.remove();
      for (const source of sources) {
        const now = value(source);
        if (now !== undefined) this.set(now);
      }
    },
  });
}

function queueGauge(name: string, help: string, value: (queue: QueueOf) => number, fold: typeof Math.max) {
  new Gauge({
    name,
    help,
    labelNames: ['template'] as const,
    registers,
    collect() {
      this.reset();
      const values = new Map<string, number>();
      for (const queue of [...sources].flatMap((source) => source.state?.queues ?? [])) {
        const template = templateLabel(queue.template);
        values.set(template, fold(values.get(template) ?? 0, value(queue)));
      }
      for (const [template, now] of values) this.set({ template }, now);
    },
  });
}

queueGauge(
  'sdp_queue_tasks',
  'Tasks that can be claimed now, by node template.',
  (queue) => queue.tasks,
  (one, other) => one + other,
);
queueGauge(
  'sdp_queue_oldest_seconds',
  'Age of the oldest task that can be claimed, by node template.',
  (queue) => queue.oldestSeconds,
  Math.max,
);
new Gauge({
  name: 'sdp_queue_runners',
  help: 'Runners that are there for the tasks that can be claimed now, by node template.',
  labelNames: ['template', 'runner_type'] as const,
  registers,
  collect() {
    this.reset();
    const least = new Map<string, number>();
    for (const { template, runnerType, runners } of [...sources].flatMap(
      ({ state }) => state?.queues ?? [],
    )) {
      if (runners === null) continue;
      const labels = { template: templateLabel(template), runner_type: runnerTypeLabel(runnerType ?? '') };
      // Several templates may have the same labels: the one with the fewest runners counts.
      const key = JSON.stringify(labels);
      least.set(key, Math.min(least.get(key) ?? runners, runners));
      this.set(labels, least.get(key)!);
    }
  },
});
gauge(
  'sdp_sessions_wanted',
  'Sessions with a change that their workflow should have reconciled by now.',
  (source) => source.state?.sessionsWanted,
);
gauge(
  'sdp_sessions_wanted_oldest_seconds',
  'Longest wait of these sessions.',
  (source) => source.state?.wantedOldestSeconds,
);
gauge(
  'sdp_uploads_queued',
  'Queued uploads that are not published yet.',
  (source) => source.state?.uploadsQueued,
);
gauge(
  'sdp_uploads_queued_oldest_seconds',
  'Age of the oldest queued upload.',
  (source) => source.state?.uploadsOldestSeconds,
);
gauge(
  'sdp_webhook_deliveries_oldest_seconds',
  'Time for which the oldest pending delivery of a webhook has been sent without success.',
  (source) => source.state?.webhookOldestSeconds,
);
gauge('sdp_claims_waiting', 'Claims of runners waiting for a task at this process.', (source) =>
  source.claimsWaiting(),
);
gauge(
  'sdp_scrape_database_up',
  '1 when the database answered in time for the gauges of this scrape, 0 when they are missing.',
  (source) => (source.state === undefined ? 0 : 1),
);
gauge('sdp_scrape_database_seconds', 'Duration of that database query.', (source) => source.stateSeconds);

new Gauge({
  name: 'sdp_part_up',
  help: '1 when a part answers this process within two seconds: database, storage, temporal.',
  labelNames: ['part'] as const,
  registers,
  collect() {
    this.reset();
    for (const source of sources) {
      for (const [part, isUp] of source.up) this.set({ part }, isUp ? 1 : 0);
    }
  },
});
