/**
 * The registry of this process: what `/metrics` shows in Prometheus text format.
 *
 * Labels have few values: routes, outcomes, states and names of node templates, never ids of sessions or tasks, paths
 * or anything of a person.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';

export const registry = new Registry();

export const contentType = registry.contentType;

/** Label values beyond this many of one kind are counted together: a registry never drops a value. */
const maxValues = 300;
const otherValues = '(others)';

function boundedLabel(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= maxValues) return otherValues;
    known.add(name);
    return name;
  };
}

/** A node template's name as label value. */
export const templateLabel = boundedLabel();
/** A runner type's name as label value. */
export const runnerTypeLabel = boundedLabel();

let isProcessDescribed = false;

/**
 * Adds Node's own metrics of the process (memory, event loop, garbage collection). Once per process; a repeat does
 * nothing.
 */
export function describeProcess(): void {
  if (isProcessDescribed) return;
  isProcessDescribed = true;
  collectDefaultMetrics({ register: registry });
}

const maxWaitMs = 1_000;

/** Further text in the same format, as of Temporal's native worker. */
export type FurtherMetrics = () => Promise<string>;
const further: FurtherMetrics[] = [];

export function addFurtherMetrics(source: FurtherMetrics): void {
  further.push(source);
}

/** All metrics of the process. A further source that fails or takes longer than a second is left out. */
export async function scrape(): Promise<string> {
  const [own, ...others] = await Promise.all([
    registry.metrics(),
    ...further.map((source) => withLimit(source(), maxWaitMs).catch(() => '')),
  ]);
  return [own, ...others].map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('');
}

/** Rejects when the promise is not settled in time; its later result is ignored. */
export async function withLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
