/**
 * Everything that callers do, at once and without pause, against one address: uploads, slow uploads, reads, waiting
 * claims with all that follows, live events. Nothing is ever sent again, so that each failure is seen.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { HttpRunner } from '../faults/http-runner.ts';
import { followEvents } from '../support/events.ts';

interface LoadGraph {
  readonly sessionId: string;
  readonly inputNodeId: number;
}

export interface LoadPlan {
  readonly url: string;
  readonly token: string;
  /** Uploads go to these, in turn. */
  readonly graphs: readonly LoadGraph[];
  /** Node templates of outside runners, worked by `runners` of them. */
  readonly templates: readonly string[];
  readonly runners: number;
  /** Sessions whose events are followed. */
  readonly followed: readonly string[];
}

export interface LoadResult {
  /** Requests that were answered as they must be. */
  readonly answered: number;
  /** The failures, one line each. */
  readonly failures: readonly string[];
  /** Ids of the outputs whose upload was acknowledged. */
  readonly uploaded: readonly number[];
  /** Ids of the runs that a runner completed, one for each time. */
  readonly completed: readonly string[];
  /** Ids of the outputs that live events reported, by session. */
  readonly reported: ReadonlyMap<string, ReadonlySet<number>>;
  /** How often event streams were opened. */
  readonly followings: number;
}

const pauseMs = 50;
const csv = 'time,speed\n0,1\n1,2\n2,3\n';

export class Load {
  readonly #plan: LoadPlan;
  readonly #over = new AbortController();
  readonly #loops: Array<Promise<void>>;
  readonly #result = {
    answered: 0,
    failures: [] as string[],
    uploaded: [] as number[],
    completed: [] as string[],
    reported: new Map<string, Set<number>>(),
    followings: 0,
  };
  #uploads = 0;
  #isUploading = true;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    const runners = Array.from({ length: plan.runners }, () => new HttpRunner(plan.url, plan.token));
    this.#loops = [
      this.#loop(() => (this.#mayUpload() ? this.#upload() : this.#rest())),
      this.#loop(() => (this.#mayUpload() ? this.#uploadSlowly() : this.#rest())),
      this.#loop(() => this.#read()),
      ...runners.map((runner) => this.#loop(() => this.#work(runner))),
      ...plan.followed.map((sessionId) => this.#follow(sessionId)),
    ];
  }

  /** How much has been answered so far. */
  get answered(): number {
    return this.#result.answered;
  }

  get failures(): readonly string[] {
    return this.#result.failures;
  }

  /** The outputs that live events have reported so far, by session. */
  get reported(): ReadonlyMap<string, ReadonlySet<number>> {
    return this.#result.reported;
  }

  /** Stops new work; open work is finished. */
  stopUploads(): void {
    this.#isUploading = false;
  }

  async stop(): Promise<LoadResult> {
    this.#over.abort();
    await Promise.all(this.#loops);
    return this.#result;
  }

  async #loop(step: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      await step().catch((error: unknown) => this.#fail('a step', error));
      await delay(pauseMs);
    }
  }

  /** Not before all streams are open: outputs of an earlier time are not events of theirs. */
  #mayUpload(): boolean {
    return this.#isUploading && this.#result.followings >= this.#plan.followed.length;
  }

  #rest(): Promise<void> {
    return delay(100);
  }

  #fail(what: string, why: unknown): void {
    const cause = why instanceof Error ? `${why.message} ${String(why.cause ?? '')}` : JSON.stringify(why);
    this.#result.failures.push(`${new Date().toISOString()} ${what}: ${cause}`);
  }

  async #fetch(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
    const { token, url } = this.#plan;
    const headers = { authorization: `Bearer ${token}`, connection: 'close', ...init.headers };
    return await fetch(url + path, { ...init, headers });
  }

  #nextUpload(): { path: string; headers: Record<string, string> } {
    const { graphs } = this.#plan;
    this.#uploads += 1;
    const graph = graphs[this.#uploads % graphs.length]!;
    const headers = { 'content-type': 'text/csv', 'x-platform-output-identifier': `upload-${this.#uploads}` };
    return { path: `/api/v2/node-instance/${graph.inputNodeId}/outputs/data`, headers };
  }

  async #upload(): Promise<void> {
    const { path, headers } = this.#nextUpload();
    await this.#acknowledged(await this.#fetch(path, { method: 'POST', headers, body: csv }));
  }

  /** So long that it begins at one process and continues while that one stops. */
  async #uploadSlowly(): Promise<void> {
    const { path, headers } = this.#nextUpload();
    async function* pieces() {
      for (let row = 0; row < 8; row++) {
        yield new TextEncoder().encode(row === 0 ? csv : `${row + 2},${row}\n`);
        await delay(150);
      }
    }
    const body = ReadableStream.from(pieces()) as ReadableStream<Uint8Array>;
    await this.#acknowledged(await this.#fetch(path, { method: 'POST', headers, body, duplex: 'half' }));
  }

  async #acknowledged(response: Response): Promise<void> {
    const body = (await response.json()) as { id: number };
    if (response.status !== 201 && response.status !== 200) {
      this.#fail('an upload', { status: response.status, body });
      return;
    }
    this.#result.answered += 1;
    this.#result.uploaded.push(body.id);
  }

  async #read(): Promise<void> {
    const { sessionId } = this.#plan.graphs[this.#result.answered % this.#plan.graphs.length]!;
    await this.#get(`/api/v2/session/${sessionId}/node-instances`);
    for (const path of ['/health_check', '/api/v2/health']) await this.#get(path, { isHealth: true });
  }

  /** One 503 of a health check does not count: a pause of the whole machine may make a check of the database late. */
  async #get(path: string, { isHealth = false } = {}): Promise<void> {
    let status = await this.#statusOf(path);
    if (isHealth && status === 503) {
      await this.#rest();
      status = await this.#statusOf(path);
    }
    if (status === 200) this.#result.answered += 1;
    else this.#fail(`GET ${path}`, { status });
  }

  async #statusOf(path: string): Promise<number> {
    const response = await this.#fetch(path);
    await response.text();
    return response.status;
  }

  async #work(runner: HttpRunner): Promise<void> {
    const template = this.#plan.templates[Math.floor(Math.random() * this.#plan.templates.length)]!;
    const claim = await runner.claim(template, 1);
    if (claim.status === 204) {
      this.#result.answered += 1;
      return;
    }
    if (claim.status !== 200) return this.#fail('a claim', claim);
    const task = claim.body;
    for (const [what, step] of [
      ['a heartbeat', () => runner.heartbeat(task)],
      ['a written output', () => runner.write(task, `of-${task.runId}`)],
      ['a completion', () => runner.complete(task)],
    ] as const) {
      const reply = await step();
      if (reply.status >= 300) return this.#fail(`${what} of ${task.runId}`, reply);
      this.#result.answered += 1;
    }
    this.#result.completed.push(task.runId);
  }

  /** As a browser does: comes back with the last id when the stream ends. */
  async #follow(sessionId: string): Promise<void> {
    const reported = new Set<number>();
    this.#result.reported.set(sessionId, reported);
    let lastEventId: string | undefined;
    while (!this.#over.signal.aborted) {
      try {
        const reader = await followEvents(this.#plan.url, sessionId, this.#plan.token, lastEventId);
        this.#result.followings += 1;
        if (reader.status !== 200) this.#fail('events', { status: reader.status });
        let read = 0;
        do {
          await delay(20);
          for (const { kind, data } of reader.events.slice(read))
            if (kind === 'output') reported.add(data.id);
          read = reader.events.length;
        } while (reader.status === 200 && !reader.isOver && !this.#over.signal.aborted);
        reader.close();
        lastEventId = reader.lastEventId ?? lastEventId;
      } catch (error) {
        this.#fail('events', error);
      }
    }
  }
}
