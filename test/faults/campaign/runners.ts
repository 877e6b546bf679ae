/**
 * Runners of a campaign. They consume each input once, as a sound runner does, but forget tasks, come late, abandon
 * tasks and continue with lost ones. Their calls and answers are recorded for the history of each run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AnswerRecord, RecordedCall, SentRecord } from '../claims/campaign-record.ts';
import { type Call, isGood, json, type Reply } from './caller.ts';
import { leaseMs } from './stage.ts';
import type { Worker } from './uploads.ts';

interface Task {
  readonly taskId: string;
  readonly runId: string;
  readonly nodeTemplate: string;
}

type Asked = SentRecord extends infer One
  ? One extends SentRecord
    ? Omit<One, 'call' | 'sentAt' | 'instance'>
    : never
  : never;

/** The runner must not continue the task. */
class Left extends Error {}

/** Between two claims when there was nothing to do. */
const idlePauseMs = 100;
const base = '/api/v2/runner/tasks';
const jsonBody = { 'content-type': 'application/json' };
/** Outputs of tasks that their writer had lost; none may be published. */
export const staleName = 'stale-';
let calls = 0;

export class CampaignRunner {
  readonly #work: Worker;
  readonly #instance: string;
  /** Ends the misbehaviour. */
  isTidy = false;

  constructor(work: Worker, instance: string) {
    this.#work = work;
    this.#instance = `${work.stage.name}-${instance}`;
  }

  async run(): Promise<void> {
    while (!this.#work.over.aborted) {
      const task = await this.#claim();
      if (task === undefined) {
        await delay(idlePauseMs);
        continue;
      }
      try {
        if (task.nodeTemplate === this.#work.stage.templates.incremental) await this.#consume(task);
        else await this.#sum(task);
      } catch (error) {
        if (!(error instanceof Left)) throw error;
      }
    }
  }

  #chance(share: number): boolean {
    return !this.isTidy && this.#work.random.chance(share);
  }

  async #claim(): Promise<Task | undefined> {
    const { random, stage } = this.#work;
    const all = [stage.templates.incremental, stage.templates.plain];
    const wanted = random.chance(0.5) ? [random.oneOf(all)] : all;
    const body = JSON.stringify({
      instanceId: this.#instance,
      templates: wanted,
      waitSeconds: this.isTidy || random.chance(0.7) ? 1 : 0,
    });
    const reply = await this.#make({ kind: 'claim' }, { method: 'POST', path: `${base}/claim`, body });
    return reply.status === 200 ? json<Task>(reply) : undefined;
  }

  /** An output for each input, which moves the watermark past it. */
  async #consume(task: Task): Promise<void> {
    for (const { outputId } of (await this.#inputs(task)).inputs) {
      await this.#mishap(task);
      await this.#write(task, `${task.taskId}.${outputId}`, `from ${outputId}`, {
        'x-platform-output-metadata': JSON.stringify({ of: outputId }),
        'x-platform-watermark': String(outputId),
      });
    }
    await this.#mishap(task);
    const { incremental } = await this.#inputs(task);
    await this.#end(task, 'complete', { outcome: 'completed', hasMore: incremental.pendingInputs > 0 });
  }

  async #sum(task: Task): Promise<void> {
    await this.#mishap(task);
    await this.#write(task, `of-${task.runId}`, 'sum');
    await this.#mishap(task);
    await this.#end(task, 'complete', { outcome: 'completed' });
  }

  async #inputs(task: Task) {
    const reply = await this.#must(task, { method: 'GET', path: `${base}/${task.taskId}/inputs` });
    return json<{ inputs: { outputId: number }[]; incremental: { pendingInputs: number } }>(reply);
  }

  async #write(task: Task, identifier: string, body: string, headers: Record<string, string> = {}) {
    await this.#must(task, this.#output(task, identifier, body, headers));
  }

  #output(task: Task, identifier: string, body: string, headers: Record<string, string> = {}) {
    return {
      method: 'POST',
      path: `${base}/${task.taskId}/outputs`,
      body,
      headers: { 'content-type': 'text/plain', 'x-platform-output-identifier': identifier, ...headers },
    };
  }

  /** Repeats the end until it is answered. */
  async #end(task: Task, how: 'complete' | 'release' | 'fail', body: object): Promise<void> {
    for (;;) {
      const reply = await this.#endOnce(task, how, body);
      if (isGood(reply)) {
        // An earlier attempt has written the outputs of inputs that are consumed already.
        if (reply.status === 409 && how === 'complete')
          await this.#endOnce(task, how, { outcome: 'no-output' });
        return;
      }
      this.#leaveAtEnd();
      await delay(50);
    }
  }

  #endOnce({ taskId }: Task, how: 'complete' | 'release' | 'fail', body: object): Promise<Reply> {
    const call = { method: 'PUT', path: `${base}/${taskId}/${how}`, body: JSON.stringify(body) };
    // Another outcome is another end.
    return this.#make({ kind: 'end', taskId, how }, call);
  }

  async #mishap(task: Task): Promise<void> {
    if (this.#chance(0.02)) await delay(leaseMs * this.#work.random.between(0.8, 1.4));
    if (this.#chance(0.03)) {
      await this.#end(task, 'release', {});
      throw new Left();
    }
    if (this.#chance(0.01)) {
      await this.#end(task, 'fail', { category: 'error', reason: 'No luck.' });
      throw new Left();
    }
    if (this.#chance(0.04)) await this.#forget(task);
  }

  /** The next claim of the instance ends the claim of this task, and the runner nevertheless continues with it. */
  async #forget(task: Task): Promise<never> {
    const { journal, stage } = this.#work;
    const idle = [stage.templates.idle];
    const body = JSON.stringify({ instanceId: this.#instance, templates: idle, waitSeconds: 0 });
    const reply = await this.#make({ kind: 'claim' }, { method: 'POST', path: `${base}/claim`, body });
    if (reply.status !== 204) throw new Left();
    const { taskId } = task;
    const heartbeat = { method: 'PUT', path: `${base}/${taskId}/heartbeat`, body: '{"phase":"working"}' };
    const replies = [
      await this.#make({ kind: 'heartbeat', taskId }, this.#output(task, `${staleName}${taskId}`, 'stale')),
      await this.#make({ kind: 'heartbeat', taskId }, heartbeat),
      await this.#endOnce(task, 'complete', { outcome: 'no-output' }),
    ];
    for (const { status } of replies) {
      if (isGood({ status })) journal.counts.staleCalls += 1;
      if (isGood({ status }) && status !== 404)
        journal.find('stale', `a call for task ${taskId}, which was given up, was answered ${status}`);
    }
    throw new Left();
  }

  /** Repeats a call until it is answered; a caller that lost the task gets that answer. */
  async #must(task: Task, call: Omit<Call, 'family'>): Promise<Reply> {
    for (;;) {
      const reply = await this.#make({ kind: 'heartbeat', taskId: task.taskId }, call);
      if (reply.status >= 200 && reply.status < 300) return reply;
      if (reply.status === 404) throw new Left();
      if (isGood(reply)) {
        const answered = `${call.method} ${call.path} was answered ${reply.status} ${reply.body}`;
        this.#work.journal.find('answer', answered);
        throw new Left();
      }
      this.#leaveAtEnd();
      await delay(50);
    }
  }

  #leaveAtEnd(): void {
    if (this.#work.over.aborted) throw new Left();
  }

  /** Makes the call, twice and again later where all is repeated. A late claim would end the claim of the open task. */
  async #make(asked: Asked, call: Omit<Call, 'family'>): Promise<Reply> {
    const { caller } = this.#work;
    if (caller.repeatAfterMs === undefined || call.method === 'GET') return this.#record(asked, call);
    this.#work.journal.counts.ambiguous += 1;
    if (asked.kind !== 'claim') caller.later(() => this.#record(asked, call));
    const [first, second] = await Promise.all([this.#record(asked, call), this.#record(asked, call)]);
    return isGood(second) && (second.status === 200 || !isGood(first)) ? second : first;
  }

  async #record(asked: Asked, call: Omit<Call, 'family'>): Promise<Reply> {
    const { caller, stage, journal } = this.#work;
    calls += 1;
    const sent = { ...asked, call: calls, sentAt: Date.now(), instance: this.#instance } as SentRecord;
    const recorded: RecordedCall = { sent, answer: undefined };
    journal.runnerCalls.push(recorded);
    const reply = await caller.once({
      family: asked.kind === 'claim' ? 'claim' : 'task',
      token: stage.token,
      ...call,
      headers: { ...jsonBody, 'x-platform-runner-instance': this.#instance, ...call.headers },
    });
    recorded.answer = answerOf(sent, reply);
    journal.counts.ambiguous += Number(!isGood(reply));
    // A long call renews the lease while it lasts.
    for (let ms = leaseMs / 2; ms < reply.answeredAt - reply.sentAt; ms += leaseMs / 2)
      if (asked.kind !== 'claim') journal.runnerCalls.push(this.#keeping(asked.taskId, sent.sentAt));
    return reply;
  }

  #keeping(taskId: string, sentAt: number): RecordedCall {
    calls += 1;
    const sent = { kind: 'heartbeat', taskId, call: calls, sentAt, instance: this.#instance } as const;
    return { sent, answer: undefined };
  }
}

/** Any call that needs the task renews its lease, as a heartbeat does. */
function answerOf({ call, kind }: SentRecord, reply: Reply): AnswerRecord {
  const { answeredAt } = reply;
  const isRefusal = kind === 'heartbeat' && reply.status >= 400 && reply.status !== 404;
  if (!isGood(reply) || isRefusal) return { call, answeredAt, status: 'lost' };
  const status = kind === 'heartbeat' && reply.status < 300 ? 200 : reply.status;
  const { code, taskId, attempt, leaseExpiresAt, willRetry } = json<Record<string, never>>(reply);
  const leaseUntil = leaseExpiresAt === undefined ? undefined : Date.parse(leaseExpiresAt);
  return { call, answeredAt, status, code, taskId, attempt, leaseUntil, willRetry };
}
