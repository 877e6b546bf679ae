/**
 * Runners of the claim campaign, several in one separate process that can be stopped and killed. They behave as badly
 * as runners can: they forget tasks, come late, repeat themselves, try the tasks of others and cut off answers.
 * After SIGUSR2 they behave well; at SIGTERM they end.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type AnswerRecord, type EndHow, RecordWriter, type SentRecord } from './campaign-record.ts';

export interface CampaignPlan {
  /** The ports of the API processes; each call goes to any of them. */
  readonly ports: readonly number[];
  readonly token: string;
  readonly templates: readonly string[];
  readonly instances: readonly string[];
  readonly leaseMs: number;
  readonly recordFile: string;
}

const plan = JSON.parse(process.env.CAMPAIGN_PLAN ?? '') as CampaignPlan;
const records = new RecordWriter(plan.recordFile);
const agent = new Agent({ keepAlive: true });
const answerLimitMs = 6_000;
let calls = 0;
let isTidy = false;
let isOver = false;
process.on('SIGUSR2', () => {
  isTidy = true;
});
process.on('SIGTERM', () => {
  isOver = true;
});
// Before it listens a signal would end it.
console.log('listens');

const chance = (share: number) => Math.random() < share;
const oneOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

type Fate = 'heard' | 'cut off' | 'not read';
type Asked = SentRecord extends infer One
  ? One extends SentRecord
    ? Omit<One, 'call' | 'sentAt'>
    : never
  : never;
/** Method and path of a kind of call. */
interface Wire {
  readonly method: string;
  readonly path: string;
  readonly body: object;
}

/** Makes the call and records its sending and its answer. */
async function make(asked: Asked, wire: Wire): Promise<AnswerRecord> {
  const fate: Fate = isTidy || chance(0.94) ? 'heard' : oneOf(['cut off', 'not read'] as const);
  calls += 1;
  const call = calls;
  const port = oneOf(plan.ports);
  records.write({ ...asked, call, sentAt: Date.now() } as SentRecord);
  const heard = await exchange(port, wire, asked.instance, fate);
  const answer = { ...heard, call, answeredAt: Date.now() };
  records.write(answer);
  if (answer.status === 'unmade') await delay(50 * Math.random());
  return answer;
}

type Heard = Omit<AnswerRecord, 'call' | 'answeredAt'>;

function exchange(port: number, wire: Wire, instance: string, fate: Fate): Promise<Heard> {
  const payload = Buffer.from(JSON.stringify(wire.body));
  return new Promise((resolve) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: wire.method,
        path: `/api/v2/runner/tasks${wire.path}`,
        timeout: answerLimitMs,
        headers: {
          authorization: `Bearer ${plan.token}`,
          'x-platform-runner-instance': instance,
          'content-type': 'application/json',
          'content-length': payload.length,
        },
      },
      async (response) => {
        if (fate === 'not read') return sent.destroy(new Error('not read'));
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of response) chunks.push(chunk as Buffer);
          resolve(readAnswer(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
        } catch {
          resolve({ status: 'lost' });
        }
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ status: error.code === 'ECONNREFUSED' ? 'unmade' : 'lost' }),
    );
    if (fate === 'cut off')
      sent.on('finish', () => setTimeout(() => sent.destroy(new Error('cut off')), 15 * Math.random()));
    sent.end(payload);
  });
}

function readAnswer(status: number, text: string): Heard {
  const { willRetry, code, next, ...task } = (text === '' ? {} : JSON.parse(text)) as Task & {
    readonly willRetry?: boolean;
    readonly code?: string;
    readonly next?: Task | null;
  };
  return { status, code, ...taskOf(task), willRetry, next: next && taskOf(next) };
}

interface Task {
  readonly taskId?: string;
  readonly attempt?: number;
  readonly leaseExpiresAt?: string;
}

function taskOf({ taskId, attempt, leaseExpiresAt }: Task) {
  const leaseUntil = leaseExpiresAt === undefined ? undefined : Date.parse(leaseExpiresAt);
  return { taskId, attempt, leaseUntil };
}

const bodies: Readonly<Record<EndHow, { readonly path: string; readonly body: object }>> = {
  complete: { path: 'complete', body: { outcome: 'no-output' } },
  fail: { path: 'fail', body: { category: 'error', reason: 'No luck.' } },
  'fail-for-good': { path: 'fail', body: { category: 'validation', reason: 'No use.' } },
  release: { path: 'release', body: {} },
};
const hows: readonly EndHow[] = [
  ...Array<EndHow>(14).fill('complete'),
  ...Array<EndHow>(4).fill('release'),
  'fail-for-good',
  'fail',
];

/** Tasks that this process knows, newest last: some are held by others, most have ended. */
const known: string[] = [];

/** Notes a task that the process claimed. */
function noted(task: { readonly taskId?: string | undefined } | null | undefined): string | undefined {
  if (task?.taskId === undefined) return undefined;
  known.push(task.taskId);
  if (known.length > 40) known.shift();
  return task.taskId;
}

/** What a claim asks for. */
function wanted() {
  const { templates } = plan;
  const chosen = chance(0.6) ? [oneOf(templates)] : chance(0.5) ? templates : [];
  return { templates: chosen, waitSeconds: isTidy || chance(0.5) ? 0 : 1 };
}

class Runner {
  readonly #instance: string;

  constructor(instance: string) {
    this.#instance = instance;
  }

  async run(): Promise<void> {
    for (let next: string | undefined; !isOver; ) {
      const taskId = next ?? (await this.#claim());
      next = undefined;
      if (taskId === undefined) await delay((isTidy ? 300 : 30) * Math.random());
      else next = await this.#handle(taskId);
    }
  }

  async #claim(): Promise<string | undefined> {
    const body = { instanceId: this.#instance, ...wanted() };
    const answer = await make(
      { kind: 'claim', instance: this.#instance },
      { method: 'POST', path: '/claim', body },
    );
    return answer.status === 200 ? noted(answer) : undefined;
  }

  /** @returns the task that the instance got with the end of this one */
  async #handle(taskId: string): Promise<string | undefined> {
    if (isTidy) return noted((await this.#end(taskId, 'complete')).next);
    while (chance(0.4)) await this.#heartbeat(taskId);
    if (chance(0.15)) await this.#stray();
    if (chance(0.06)) await delay(plan.leaseMs * (0.7 + Math.random()));
    // Forgotten: the next claim ends it.
    if (chance(0.1)) return undefined;
    const how = oneOf(hows);
    const claimsNext = chance(0.5);
    const { status, next } = await this.#end(taskId, how, claimsNext);
    let got = next;
    if (typeof status !== 'number' || status >= 500 || chance(0.08))
      got = (await this.#end(taskId, how, claimsNext || chance(0.2))).next ?? got;
    if (chance(0.05)) got = (await this.#end(taskId, oneOf(hows))).next ?? got;
    return noted(got);
  }

  /** A call for any task that this process has seen, most likely refused. */
  async #stray(): Promise<void> {
    const taskId = known[Math.floor(Math.random() * known.length)];
    if (taskId === undefined) return;
    if (chance(0.5)) await this.#heartbeat(taskId);
    else await this.#end(taskId, oneOf(hows));
  }

  #heartbeat(taskId: string): Promise<AnswerRecord> {
    const wire = { method: 'PUT', path: `/${taskId}/heartbeat`, body: { phase: 'working' } };
    return make({ kind: 'heartbeat', instance: this.#instance, taskId }, wire);
  }

  #end(taskId: string, how: EndHow, claimsNext = chance(0.5)): Promise<AnswerRecord> {
    const { path, body } = bodies[how];
    const whole = claimsNext ? { ...body, next: wanted() } : body;
    const wire = { method: 'PUT', path: `/${taskId}/${path}`, body: whole };
    return make({ kind: 'end', instance: this.#instance, taskId, how, claimsNext }, wire);
  }
}

await Promise.all(plan.instances.map((instance) => new Runner(instance).run()));
agent.destroy();
