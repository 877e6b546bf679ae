/** Calls to the platform as a careful device makes them, and their results. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stalls } from '../../../sdk/conformance/stalls.ts';
import type { Random } from '../../support/random.ts';
import type { Journal } from './journal.ts';
import type { Slot } from './slot.ts';
import { type OpenCall, type Outcome, Tally } from './tally.ts';

export interface Reply {
  /** 0: no answer came, and the call may or may not have taken effect. */
  readonly status: number;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** Why there is no answer. */
  readonly lostBy?: string;
}

export interface Call {
  /** The family of the call in the tally. */
  readonly family: string;
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: any API process. */
  readonly at?: Slot;
}

/** How long an answer may take; times in which this process itself did not run do not count. */
export interface Patience {
  readonly limitMs: number;
  readonly stalls: Stalls;
}

export class Caller {
  readonly tally = new Tally();
  readonly #apis: readonly Slot[];
  readonly #random: Random;
  readonly #journal: Journal;
  readonly #patience: Patience;
  /** Set: every call that changes something is sent twice at once, and again after this time. */
  repeatAfterMs: number | undefined;
  readonly #repeats = new Set<Promise<unknown>>();

  constructor(apis: readonly Slot[], random: Random, journal: Journal, patience: Patience) {
    this.#apis = apis;
    this.#random = random;
    this.#journal = journal;
    this.#patience = patience;
  }

  /** The answer; of a call that was sent twice both answers, the better one first. */
  async call(call: Call): Promise<Reply & { readonly twin?: Reply }> {
    const isChange = call.method !== 'GET';
    if (!isChange || this.repeatAfterMs === undefined) return this.once(call);
    this.later(() => this.once(call));
    const [first, second] = await Promise.all([this.once(call), this.once(call)]);
    return isGood(first) ? { ...first, twin: second } : { ...second, twin: first };
  }

  /** Makes a late repeat. */
  later(repeat: () => Promise<unknown>): void {
    const late = delay(this.repeatAfterMs).then(repeat);
    this.#repeats.add(late);
    void late.finally(() => this.#repeats.delete(late));
  }

  /** Waits for the late repeats. */
  async settled(): Promise<void> {
    await Promise.all(this.#repeats);
  }

  /** The call, without repeats. */
  async once(call: Call): Promise<Reply> {
    const sentAt = Date.now();
    const open = this.tally.begin();
    const reply = await this.#exchange(call);
    // A call to one process by name does not count for the platform while that process is away.
    if (call.at !== undefined && reply.lostBy === 'ECONNREFUSED') this.tally.forget(open);
    else this.#note(call, open, reply);
    return { ...reply, sentAt, answeredAt: Date.now() };
  }

  #note({ family, method, path, body }: Call, open: OpenCall, reply: Exchanged): void {
    const outcome = outcomeOf(family, reply);
    const what = reply.lostBy ?? `${reply.status} ${json<{ code?: string }>(reply).code ?? ''}`.trim();
    if (outcome !== 'served') this.tally.noteError(`${family} ${what}`);
    if (outcome === 'unnamed')
      this.#journal.findOnce(
        'answer',
        `calls of ${family} were answered ${what}, which the contract does not name`,
      );
    if (this.tally.end(open, family, outcome))
      this.#journal.findOnce(
        'stuck',
        `calls of ${family} hung although nothing had failed: ${method} ${path} ${String(body).slice(0, 200)} until ${new Date().toISOString()}`,
      );
  }

  /** A process that refuses connections is skipped, as a balancer does. */
  async #exchange(call: Call): Promise<Exchanged> {
    const serving = this.#apis.filter(({ isInRotation }) => isInRotation);
    const first = call.at ?? this.#random.oneOf(serving.length > 0 ? serving : this.#apis);
    const reply = await exchange(first.url, call, this.#patience);
    const other = this.#apis.find((slot) => slot !== first);
    if (reply.status !== 'unmade' || call.at !== undefined || other === undefined) return answered(reply);
    return answered(await exchange(other.url, call, this.#patience));
  }
}

/** Temporary refusals that the contract names beside 503, by family: an upload cannot be stored, a source not read. */
const refusals: Readonly<Record<string, { readonly status: number; readonly says: string }>> = {
  upload: { status: 500, says: 'Failed to create node output.' },
  read: { status: 502, says: 'An upstream service failed.' },
};

const busySession = 'Another request for the same session is in progress.';

function outcomeOf(family: string, { status, body, lostBy }: Exchanged): Outcome {
  if (status === 0) return lostBy === noAnswer ? 'hung' : 'lost';
  // Simultaneous joins of one session wait for each other, also without a fault.
  if (status < 500 || (status === 503 && body.includes(busySession))) return 'served';
  const refusal = refusals[family];
  const isNamed = status === refusal?.status && body.includes(refusal.says);
  return status === 503 || isNamed ? 'refused' : 'unnamed';
}

/** Whether the platform executed the call, or refused it with a reason. */
export function isGood({ status }: { readonly status: number }): boolean {
  return status > 0 && status < 500;
}

export function json<T>(reply: { readonly body: Buffer }): T {
  try {
    return JSON.parse(reply.body.toString()) as T;
  } catch {
    return {} as T;
  }
}

type Exchanged = Omit<Reply, 'sentAt' | 'answeredAt'>;
type Attempt = Omit<Exchanged, 'status'> & { readonly status: number | 'unmade' };

const noAnswer = 'no answer in time';
const nothing = { body: Buffer.alloc(0), headers: {} };

function answered(attempt: Attempt): Exchanged {
  return { ...attempt, status: attempt.status === 'unmade' ? 0 : attempt.status };
}

/** Each call has a separate connection: what a closed one left open is then never mistaken for its answer. */
function exchange(url: string, call: Call, patience: Patience): Promise<Attempt> {
  const payload = typeof call.body === 'string' ? Buffer.from(call.body) : call.body;
  return new Promise((resolve) => {
    const sent = request(
      url + call.path,
      {
        method: call.method,
        agent: false,
        headers: {
          connection: 'close',
          ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
          ...(payload === undefined ? {} : { 'content-length': payload.length }),
          ...call.headers,
        },
      },
      async (response) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of response) chunks.push(chunk as Buffer);
          finish({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks),
            headers: response.headers,
          });
        } catch {
          finish({ status: 0, ...nothing, lostBy: 'cut' });
        }
      },
    );
    const endWait = whenOver(patience, () =>
      sent.destroy(Object.assign(new Error(noAnswer), { code: noAnswer })),
    );
    const finish = (attempt: Attempt) => {
      endWait();
      resolve(attempt);
    };
    sent.on('error', (error: NodeJS.ErrnoException) =>
      finish({
        status: error.code === 'ECONNREFUSED' ? 'unmade' : 0,
        ...nothing,
        lostBy: error.code ?? error.message,
      }),
    );
    sent.end(payload);
  });
}

/** @returns ends the wait */
function whenOver({ limitMs, stalls }: Patience, onOver: () => void): () => void {
  const sinceMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    const leftMs = limitMs - stalls.ranMs(sinceMs);
    if (leftMs <= 0) onOver();
    else timer = setTimeout(check, leftMs);
  };
  check();
  return () => clearTimeout(timer);
}
