/** People of a campaign who upload, read, reprocess and make sessions. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Graph } from '../../support/graph.ts';
import type { Random } from '../../support/random.ts';
import { type Caller, json, type Reply } from './caller.ts';
import type { Journal, SentBody, UploadEntry } from './journal.ts';
import type { Stage } from './stage.ts';

export interface Worker {
  readonly stage: Stage;
  readonly caller: Caller;
  readonly journal: Journal;
  readonly random: Random;
  /** The longest pause of a caller between two calls, in milliseconds. */
  readonly thinkMs: () => number;
  /** No further work is begun; begun work is finished. */
  readonly over: AbortSignal;
}

const firstPauseMs = 40;
/** Each pause is twice as long as the one before, up to this: as the device guide asks for. */
const maxPauseMs = 1_000;
const replacing = 0.1;
const padding = randomBytes(256 * 1_024).toString('base64');

export class Uploader {
  readonly #work: Worker;
  readonly #name: string;
  readonly #toLanes: number;
  #number = 0;
  readonly #own: UploadEntry[] = [];

  /** @param toLanes share of uploads to nodes below which runners work */
  constructor(work: Worker, name: string, toLanes: number) {
    this.#work = work;
    this.#toLanes = toLanes;
    this.#name = `${work.stage.name}-${name}`;
  }

  async run(): Promise<void> {
    const { random, over } = this.#work;
    while (!over.aborted) {
      await this.#uploadNext();
      await delay(this.#work.thinkMs() * random.next());
      if (random.chance(0.3)) await this.#readOne();
    }
  }

  async #uploadNext(): Promise<void> {
    const { random, stage } = this.#work;
    const earlier = this.#own.length > 5 && random.chance(replacing) ? random.oneOf(this.#own) : undefined;
    const graph: Graph = random.oneOf(random.chance(this.#toLanes) ? stage.lanes : stage.stores);
    const entry = earlier ?? this.#work.journal.upload(graph.nodes.input!, `${this.#name}-${this.#number++}`);
    const sizes = [20, 600, 9_000, 70_000, 200_000];
    const size = sizes[Math.floor(random.next() ** 3 * sizes.length)]!;
    await uploadUntilKnown(this.#work, entry, bodyOf(entry, size));
    if (earlier === undefined) this.#own.push(entry);
    if (this.#own.length > 200) this.#own.shift();
  }

  /** Bytes that are read during faults are complete, or the answer shows that they are not. */
  async #readOne(): Promise<void> {
    const { caller, stage, random, journal } = this.#work;
    const entry = this.#own.length === 0 ? undefined : random.oneOf(this.#own);
    if (entry?.outputId === undefined) return;
    const path = `/api/v2/node-instance/outputs/${entry.outputId}/data`;
    const reply = await caller.call({ family: 'read', method: 'GET', path, token: stage.token });
    if (reply.status === 200 && !entry.bodies.some(({ sha256 }) => sha256 === digestOf(reply.body)))
      journal.find(
        'torn',
        `output ${entry.outputId} was read as ${reply.body.length} bytes that nobody sent`,
      );
    else if (reply.status === 404) journal.find('lost', `output ${entry.outputId} was not found`);
  }
}

/** Sends a body until the platform has answered for it; each send without an answer may have taken effect. */
async function uploadUntilKnown(
  { caller, journal, stage, over }: Worker,
  entry: UploadEntry,
  bytes: Buffer,
): Promise<void> {
  const digest = createHash('sha256').update(bytes);
  const checksum = digest.copy().digest('base64');
  const sent: SentBody = {
    sha256: digest.digest('hex'),
    acknowledged: false,
    sends: 0,
    isRepeatedLate: caller.repeatAfterMs !== undefined,
  };
  entry.bodies.push(sent);
  const repeats = caller.repeatAfterMs === undefined ? 1 : 3;
  let afterEnd = 0;
  let pauseMs = firstPauseMs;
  while (!sent.acknowledged) {
    sent.sends += repeats;
    if (repeats > 1) journal.counts.ambiguous += repeats - 1;
    const reply = await caller.call({
      family: 'upload',
      method: 'POST',
      path: `/api/v2/node-instance/${entry.nodeId}/outputs/data`,
      token: stage.token,
      body: bytes,
      headers: {
        'content-type': 'text/csv',
        'x-platform-output-identifier': entry.identifier,
        'x-amz-checksum-sha256': checksum,
      },
    });
    if (reply.status === 200 || reply.status === 201) acknowledge(journal, entry, sent, reply);
    else if (reply.status > 0 && reply.status < 500) return unexpected(journal, reply);
    else {
      // What no process accepted has certainly had no effect.
      if (reply.lostBy !== 'ECONNREFUSED') journal.counts.ambiguous += 1;
      // A call without an answer at the end of a campaign is checked as ambiguous.
      if (over.aborted) afterEnd += 1;
      if (afterEnd > 100) return;
      await delay(pauseMs);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }
}

function acknowledge(journal: Journal, entry: UploadEntry, sent: SentBody, reply: Reply): void {
  const { id } = json<{ id: number }>(reply);
  sent.acknowledged = true;
  journal.counts.acknowledged += 1;
  if (entry.outputId !== undefined && entry.outputId !== id)
    journal.find('doubled', `${entry.identifier} is output ${entry.outputId} and output ${id}`);
  entry.outputId = id;
}

function unexpected(journal: Journal, reply: Reply): void {
  journal.find('answer', `an upload was answered ${reply.status} ${reply.body.toString().slice(0, 200)}`);
}

/** A table whose first value names it, so that no two bodies are equal. */
function bodyOf({ identifier, bodies }: UploadEntry, size: number): Buffer {
  const head = `name,version\n${identifier},${bodies.length}\n`;
  return Buffer.from(head + padding.slice(0, Math.max(0, size - head.length)));
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes sessions and reprocesses a node, without repeats, because a repeat would be done twice. */
export async function makeAndReprocess(work: Worker): Promise<void> {
  const { stage, journal, random, over } = work;
  const [graph] = stage.stores;
  const nodeId = graph!.nodes.input!;
  const entry = journal.upload(nodeId, 'reprocessed');
  if (entry.bodies.length === 0) await uploadUntilKnown(work, entry, bodyOf(entry, 100));
  const counted = journal.reprocesses.get(nodeId) ?? { nodeId, acknowledged: 0, ambiguous: 0 };
  journal.reprocesses.set(nodeId, counted);
  while (!over.aborted) {
    await delay(work.thinkMs() * random.between(1, 4));
    if (random.chance(0.5)) await makeSession(work);
    else await reprocess(work, counted);
  }
}

async function makeSession({ caller, stage, journal }: Worker): Promise<void> {
  const reply = await caller.call({
    family: 'session',
    method: 'POST',
    path: '/session',
    token: stage.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      Name: 'A session',
      ProjectId: stage.projectId,
      SessionTemplateId: stage.templateId,
    }),
  });
  if (reply.status === 201) journal.sessions.push(json<{ id: string }>(reply).id);
}

async function reprocess(
  { caller, stage }: Worker,
  counted: { nodeId: number; acknowledged: number; ambiguous: number },
): Promise<void> {
  const call = {
    family: 'reprocess',
    method: 'POST',
    path: `/api/v2/node-instance/${counted.nodeId}/reprocess`,
    token: stage.token,
  };
  // Three sends are three requests.
  const repeats = caller.repeatAfterMs === undefined ? 1 : 3;
  const reply = await caller.call(call);
  const answered = reply.status === 202 ? 1 + Number(reply.twin?.status === 202) : 0;
  counted.acknowledged += answered;
  counted.ambiguous += repeats - answered;
}
