/**
 * Data sources as built-in runs use them: bounded in time, with faults that name them.
 *
 * A source that does not answer could occupy every slot of this process. So a run probes it first, with one probe for
 * all runs that wait for the answer. While the source is known to be unavailable, runs are refused at once, except for
 * one now and then that probes again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import { connectionFaultOf, noAnswer } from '../../store/objects/errors.ts';
import { isStoreAway, type ObjectStore, ObjectStoreError } from '../../store/objects/object-store.ts';
import type { ObjectStores } from '../../store/objects/object-stores.ts';
import { SecretUnreadable } from '../../store/objects/secrets.ts';

interface Message {
  readonly kind: 'away' | 'refused';
  readonly category?: 'timeout';
  readonly how: string;
}

/** A data source's failure in a run; the message names the source. */
export class DataSourceFault extends Error {
  /**
   * `away`: it was unavailable, which is not the run's fault. `refused`: it answered, and a retry gets the same answer.
   */
  readonly kind: 'away' | 'refused';
  readonly category: 'error' | 'timeout';
  /** At the address of the platform's own store, without which nothing works. */
  readonly isPlatforms: boolean;

  constructor(source: DataSourceRow, isPlatforms: boolean, message: Message) {
    super(`The data source "${source.name}" ${message.how}.`);
    this.name = 'DataSourceFault';
    this.kind = message.kind;
    this.category = message.category ?? 'error';
    this.isPlatforms = isPlatforms;
  }
}

export interface UsedSource {
  readonly store: ObjectStore;
  /** Aborts with the run, and when the source has been silent for too long. */
  readonly signal: AbortSignal;
  /** Call this for bytes received or sent. */
  readonly onBytes: () => void;
  /** Call this when everything is sent: the source may need minutes to assemble it. */
  readonly onAllSent: () => void;
}

interface Standing {
  /** Version of the row: an operator may have corrected the source's address. */
  readonly version: number;
  heardAtMs: number;
  /** The last failure, until there is an answer again. */
  away: { readonly fault: DataSourceFault; readonly untilMs: number } | undefined;
  asking: Promise<void> | undefined;
}

/** How long an answer proves that a source is available. */
const heardForMs = 5_000;
const answerMs = limits.builtinSourceAnswerSeconds * 1_000;
const awayMs = limits.builtinSourceAwaySeconds * 1_000;
const silentMs = limits.builtinSourceSilentSeconds * 1_000;
const puttingTogetherMs = 300_000;

export class DataSources {
  readonly #objects: ObjectStores;
  readonly #standings = new Map<number, Standing>();

  constructor(objects: ObjectStores) {
    this.#objects = objects;
  }

  /**
   * Uses a data source for one piece of work.
   * @throws DataSourceFault for what the source did; the signal's reason when it aborted; else what the work threw
   */
  async use<T>(
    source: DataSourceRow,
    signal: AbortSignal,
    work: (used: UsedSource) => Promise<T>,
  ): Promise<T> {
    const standing = this.#standingOf(source);
    const store = this.#storeOf(source, standing);
    await this.#mustAnswer(source, store, standing, signal);
    const ask = () => this.#askOnce(source, store, standing);
    const watch = new SilenceWatch(ask);
    const { onBytes, onAllSent } = watch;
    try {
      const result = await work({
        store,
        signal: AbortSignal.any([signal, watch.signal]),
        onBytes,
        onAllSent,
      });
      noteAnswer(standing);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      const cause = watch.signal.aborted ? watch.signal.reason : error;
      throw this.#noteFault(source, standing, cause) ?? error;
    } finally {
      watch.stop();
    }
  }

  #storeOf(source: DataSourceRow, standing: Standing): ObjectStore {
    try {
      return this.#objects.of(source);
    } catch (error) {
      throw this.#noteFault(source, standing, error) ?? error;
    }
  }

  #standingOf({ id, updatedAt }: DataSourceRow): Standing {
    const version = updatedAt.getTime();
    const known = this.#standings.get(id);
    if (known?.version === version) return known;
    const standing: Standing = { version, heardAtMs: -heardForMs, away: undefined, asking: undefined };
    this.#standings.set(id, standing);
    return standing;
  }

  async #mustAnswer(
    source: DataSourceRow,
    store: ObjectStore,
    standing: Standing,
    signal: AbortSignal,
  ): Promise<void> {
    const { away } = standing;
    const now = performance.now();
    // One run at a time tries a source that is known to be unavailable; runs that do not know yet wait for the answer.
    if (away !== undefined && (now < away.untilMs || standing.asking !== undefined)) throw away.fault;
    if (away === undefined && now - standing.heardAtMs < heardForMs) return;
    await orAborted(this.#askOnce(source, store, standing), signal);
  }

  #askOnce(source: DataSourceRow, store: ObjectStore, standing: Standing): Promise<void> {
    standing.asking ??= this.#ask(source, store, standing).finally(() => {
      standing.asking = undefined;
    });
    return standing.asking;
  }

  /** Every answer counts as available: the later use of the source reports a refusal. */
  async #ask(source: DataSourceRow, store: ObjectStore, standing: Standing): Promise<void> {
    const deadline = AbortSignal.timeout(answerMs);
    try {
      await store.probe(deadline);
      noteAnswer(standing);
    } catch (error) {
      if (error instanceof ObjectStoreError && error.httpStatus !== null) return noteAnswer(standing);
      const fault = this.#noteFault(source, standing, deadline.aborted ? new Silence() : error);
      if (fault !== undefined) throw fault;
      throw error;
    }
  }

  #noteFault(source: DataSourceRow, standing: Standing, error: unknown): DataSourceFault | undefined {
    if (error instanceof DataSourceFault) return error;
    const message = whatFailed(error);
    if (message === undefined) return undefined;
    const isPlatforms = source.endpoint === this.#objects.platformAccess.endpoint;
    const fault = new DataSourceFault(source, isPlatforms, message);
    if (fault.kind === 'away') standing.away = { fault, untilMs: performance.now() + awayMs };
    else noteAnswer(standing);
    return fault;
  }
}

function noteAnswer(standing: Standing): void {
  standing.heardAtMs = performance.now();
  standing.away = undefined;
}

async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  // When this run ends first, the other runs that wait for the same probe handle its failure.
  work.catch(() => undefined);
  try {
    const aborted = delay(2 ** 31 - 1, undefined, {
      signal: AbortSignal.any([signal, over.signal]),
      ref: false,
    });
    await Promise.race([work, aborted]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}

/** No byte was received or sent for too long. */
class Silence extends Error {}

/** Undefined for an error that no data source caused. */
function whatFailed(error: unknown): Message | undefined {
  if (error instanceof Silence) return { kind: 'away', category: 'timeout', how: 'does not answer' };
  const status = error instanceof ObjectStoreError ? error.httpStatus : null;
  if (isStoreAway(error)) {
    if (status !== null) return { kind: 'away', how: `answers with HTTP ${status}` };
    const fault = connectionFaultOf(error);
    const how = `cannot be reached: ${fault}`;
    return fault === noAnswer ? { kind: 'away', category: 'timeout', how } : { kind: 'away', how };
  }
  if (!(error instanceof ObjectStoreError)) return undefined;
  if (error.cause instanceof SecretUnreadable)
    return { kind: 'refused', how: 'has keys that cannot be decrypted with this SECRETS_KEY' };
  if (error.kind === 'missing') return { kind: 'refused', how: 'does not have the object' };
  return { kind: 'refused', how: `refuses it${status === null ? '' : ` (HTTP ${status})`}` };
}

/** Aborts its signal after a silence: early when the source does not answer a probe either. */
class SilenceWatch {
  readonly #over = new AbortController();
  readonly #quiet: NodeJS.Timeout;
  #longest: NodeJS.Timeout;

  /** @param ask rejects when the source does not answer */
  constructor(ask: () => Promise<void>) {
    this.#quiet = setInterval(() => void ask().catch((error) => this.#over.abort(error)), answerMs);
    this.#longest = this.#start(silentMs);
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  readonly onBytes = (): void => {
    this.#quiet.refresh();
    this.#longest.refresh();
  };

  readonly onAllSent = (): void => {
    clearTimeout(this.#longest);
    this.#longest = this.#start(puttingTogetherMs);
  };

  stop(): void {
    clearInterval(this.#quiet);
    clearTimeout(this.#longest);
  }

  #start(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#over.abort(new Silence('The data source was silent for too long.')), ms);
  }
}
