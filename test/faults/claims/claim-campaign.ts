/**
 * The claim campaign: 32 runners in 4 processes call two API processes, while runners and servers are stopped and
 * killed; then the answers of each run's calls are checked against a lock with expiry.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../store/connection/database.ts';
import { changeConcurrencyLimit } from '../../../store/registry/concurrency-limits.ts';
import { eventually } from '../../support/eventually.ts';
import { type Graph, makeGraph, outsideTemplate, upload } from '../../support/graph.ts';
import type { ApiProcess, TestProcess, TestProcesses } from '../../support/processes.ts';
import { Disturbance, type Member } from '../disturb.ts';
import { retriesNow } from '../retries-now.ts';
import { type Histories, historiesOf, prolongedAtMs } from './campaign-histories.ts';
import { RecordReader } from './campaign-record.ts';
import type { CampaignPlan } from './campaign-runner.ts';
import type { LockCall, LockRules } from './lock.ts';
import { judge } from './lock-history.ts';

const campaignRules: LockRules = { leaseMs: 2_000, maxAttempts: 4, maxLost: 3, slackMs: 5 };
const templates = ['campaign-a', 'campaign-b'] as const;
/** The concurrency limit of the second template. */
const limit = { max: 6, perSession: 2 } as const;
const processCount = 4;
const runnersPerProcess = 8;
const sessionCount = 8;
const nodesPerSession = 40;
const queuedAtLeast = 80;

export interface CampaignReport {
  readonly calls: number;
  readonly unanswered: number;
  readonly serverErrors: number;
  readonly runs: number;
  readonly claims: number;
  /** How the claims ended, by the database. */
  readonly endings: Readonly<Record<string, number>>;
  readonly refusedWrites: number;
  /** Tasks that runners got with the end of another one. */
  readonly nextTasks: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** All places of the limited template were held at some moment. */
  readonly limitReached: boolean;
  readonly violations: readonly string[];
}

export interface CampaignWorld {
  readonly database: Database;
  readonly processes: TestProcesses;
  readonly token: string;
  readonly apis: readonly ApiProcess[];
}

/** @param calls it ends when so many have been made and all runs are done */
export async function claimCampaign(world: CampaignWorld, calls: number): Promise<CampaignReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-campaign-'));
  try {
    return await new Campaign(world, folder).run(calls);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Campaign {
  readonly #world: CampaignWorld;
  readonly #folder: string;
  readonly #readers: RecordReader[] = [];
  #runners: readonly Member[] = [];
  readonly #prolongedAtMs = new Set<number>();
  readonly #apis: Array<Member<ApiProcess>>;
  readonly #over = new AbortController();
  readonly #faults = new Disturbance(this.#over.signal);

  constructor(world: CampaignWorld, folder: string) {
    this.#world = world;
    this.#folder = folder;
    const { leaseMs } = campaignRules;
    this.#apis = world.apis.map((api) => ({
      kind: 'API processes',
      process: api,
      start: () => world.processes.startApi({ port: api.port }),
      stopMs: [leaseMs * 0.2, leaseMs * 1.3],
    }));
  }

  async run(calls: number): Promise<CampaignReport> {
    const startedAt = performance.now();
    const graphs = await this.#makeGraphs();
    this.#runners = Array.from({ length: processCount }, (_, place) => ({
      kind: 'runner processes',
      process: this.#startRunners(place),
      start: () => this.#startRunners(place),
      stopMs: [campaignRules.leaseMs * 0.8, campaignRules.leaseMs * 1.5],
    }));
    const isEnough = async () => {
      while (this.#callCount() < calls && (await this.#faults.pause(100))) this.#noteProlonged();
    };
    const parts = [
      isEnough(),
      this.#feed(graphs),
      this.#faults.among(this.#runners, [300, 1_200]),
      // One of the two at a time: with none up, no lease would end.
      this.#faults.among(this.#apis, [500, 2_000]),
    ];
    // When one fails, the others end too.
    await Promise.all(parts.map((part) => part.finally(() => this.#over.abort())));
    await this.#drain();
    const histories = await this.#histories();
    return this.#report(histories, (performance.now() - startedAt) / 1_000);
  }

  async #makeGraphs(): Promise<Graph[]> {
    for (const template of templates)
      await outsideTemplate(this.#world.database, template, {
        leaseSeconds: campaignRules.leaseMs / 1_000,
        maxAttempts: campaignRules.maxAttempts,
      });
    await changeConcurrencyLimit(
      this.#world.database,
      { name: templates[1], kind: 'nodeTemplate' },
      { ...limit, perProject: null },
      randomUUID(),
    );
    const graphs: Graph[] = [];
    for (let session = 0; session < sessionCount; session++) {
      const children = Array.from({ length: nodesPerSession }, (_, at) => ({
        name: `n${at}`,
        parents: ['input'],
        template: templates[at % templates.length]!,
      }));
      graphs.push(await makeGraph(this.#world.database, [{ name: 'input', parents: [] }, ...children]));
    }
    return graphs;
  }

  /** Keeps runs queued: each upload makes one for each node of its session that has none open. */
  async #feed(graphs: readonly Graph[]): Promise<void> {
    const { database } = this.#world;
    for (let next = 0; !this.#over.signal.aborted; ) {
      const [row] = await database.query<{ queued: number }>(
        `select count(*) as queued from node_run where state = 'queued'`,
      );
      if (row!.queued < queuedAtLeast) await upload(database, graphs[next++ % graphs.length]!, 'input');
      else await this.#faults.pause(100);
    }
  }

  #startRunners(place: number): TestProcess {
    const recordFile = join(this.#folder, `${this.#readers.length}.jsonl`);
    const plan: CampaignPlan = {
      ports: this.#world.apis.map(({ port }) => port),
      token: this.#world.token,
      templates,
      instances: Array.from({ length: runnersPerProcess }, (_, at) => `runner-${place}-${at}`),
      leaseMs: campaignRules.leaseMs,
      recordFile,
    };
    this.#readers.push(new RecordReader(recordFile));
    const variables = { CAMPAIGN_PLAN: JSON.stringify(plan) };
    return this.#world.processes.startScript('test/faults/claims/campaign-runner.ts', variables);
  }

  #callCount(): number {
    for (const reader of this.#readers) reader.readOn();
    return this.#readers.reduce((sum, { size }) => sum + size, 0);
  }

  /** From now on the runners behave; they end when nothing is left to do. Retries wait no longer. */
  async #drain(): Promise<void> {
    const { database } = this.#world;
    const runners = this.#runners.map(({ process }) => process);
    await eventually('all runners listen', () => runners.every((runner) => runner.log().includes('listens')));
    for (const runner of runners) runner.kill('SIGUSR2');
    await eventually(
      'all runs are done',
      async () => {
        await retriesNow(database);
        await delay(100);
        return (await database.query(`select 1 from node_run where state <> 'done' limit 1`)).length === 0;
      },
      180_000,
    );
    for (const runner of runners) runner.kill('SIGTERM');
    const codes = await Promise.all(runners.map(({ ended }) => ended));
    const broken = runners.filter((_, at) => codes[at] !== 0);
    if (broken.length > 0) throw new Error(`Runners ended badly (${codes.join()}):\n${broken[0]!.log()}`);
    this.#callCount();
  }

  #histories(): Promise<Histories> {
    this.#noteProlonged();
    const recorded = this.#readers.flatMap(({ calls }) => calls);
    return historiesOf(this.#world.database, recorded, [...this.#prolongedAtMs]);
  }

  /** Leases are prolonged when no API process had a heartbeat for seconds, as on a machine that stalls. */
  #noteProlonged(): void {
    for (const api of [...this.#faults.ended, ...this.#apis.map(({ process }) => process)])
      for (const atMs of prolongedAtMs(api.log())) this.#prolongedAtMs.add(atMs);
  }

  async #report(histories: Histories, seconds: number): Promise<CampaignReport> {
    const calls = this.#readers.flatMap((reader) => reader.calls);
    for (const reader of this.#readers) reader.close();
    const endings = await this.#world.database.query<{ ending: string; count: number }>(
      'select ending, count(*) as count from node_claim group by ending order by ending',
    );
    const { limitReached, overfull } = await heldAtOnce(this.#world.database);
    const wrong = [...histories.byRun].flatMap(([runId, history]) => complaint(runId, history));
    return {
      calls: calls.length,
      unanswered: calls.filter(({ answer }) => answer === undefined || answer.status === 'lost').length,
      serverErrors: calls.filter(({ answer }) => Number(answer?.status) >= 500).length,
      runs: histories.byRun.size,
      claims: endings.reduce((sum, { count }) => sum + count, 0),
      endings: Object.fromEntries(endings.map(({ ending, count }) => [ending, count])),
      nextTasks: calls.filter(({ answer }) => answer?.next).length,
      refusedWrites: calls.filter(({ answer }) => answer?.status === 404).length,
      faults: this.#faults.counts,
      seconds,
      limitReached,
      violations: [...histories.violations, ...wrong, ...overfull],
    };
  }
}

/** The most claims of the limited template that were open at one moment, in all and of one session, by the database's clock. */
async function heldAtOnce(database: Database) {
  const most = async (partition: string) => {
    const [row] = await database.query<{ most: number }>(
      `with claims as (
         select c.claimed_at, c.ended_at, r.session_id from node_claim c join node_run r on r.id = c.run_id
          where r.template_name = $1
       ), events as (
         select claimed_at as at, 1 as step, session_id from claims
         union all select ended_at, -1, session_id from claims where ended_at is not null
       )
       select max(open) as most from (
         select sum(step) over (${partition} order by at, step) as open from events) x`,
      [templates[1]],
    );
    return Number(row!.most);
  };
  const [all, ofSession] = [await most(''), await most('partition by session_id')];
  const overfull = [
    ...(all > limit.max ? [`${all} tasks were held at once, of at most ${limit.max}.`] : []),
    ...(ofSession > limit.perSession
      ? [`${ofSession} tasks of one session were held at once, of at most ${limit.perSession}.`]
      : []),
  ];
  return { limitReached: all === limit.max && ofSession === limit.perSession, overfull };
}

function complaint(runId: string, history: readonly LockCall[]): string[] {
  const verdict = judge(history, campaignRules);
  if (verdict.fits) return [];
  const lines = (calls: readonly LockCall[]) => calls.map((call) => `  ${JSON.stringify(call)}`).join('\n');
  return [
    `Run ${runId} cannot have been held by one at a time. In order:\n${lines(verdict.ordered)}\nNot in order:\n${lines(verdict.left)}`,
  ];
}
