/**
 * The soak: uploads, reprocesses, freezes and unsound runners for a while, with every process killed and stopped now and
 * then; then all settles, one more upload runs through every graph, and the database is checked.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../store/connection/database.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { type Graph, makeGraph, outsideTemplate } from '../../support/graph.ts';
import type { ApiProcess, TestProcess, TestProcesses } from '../../support/processes.ts';
import { Disturbance, type Member } from '../disturb.ts';
import { retriesNow } from '../retries-now.ts';
import { consumedTooOften, isQuiet, wrongFacts } from './soak-checks.ts';
import type { SoakPlan } from './soak-runner.ts';

const leaseMs = 2_000;
const incremental = 'soak-incremental';
const plain = 'soak-plain';
const eager = 'soak-eager';
const sessionCount = 6;
const processCount = 2;
const runnersPerProcess = 6;

export interface SoakWorld {
  readonly database: Database;
  readonly processes: TestProcesses;
  readonly apis: readonly ApiProcess[];
  readonly worker: TestProcess;
  readonly token: string;
}

export interface SoakReport {
  readonly uploads: Readonly<Record<string, number>>;
  readonly reprocesses: number;
  readonly freezes: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly runs: Readonly<Record<string, number>>;
  readonly claims: Readonly<Record<string, number>>;
  readonly outputs: number;
  readonly settledSeconds: number;
  readonly wrong: readonly string[];
}

export async function soak(world: SoakWorld, seconds: number): Promise<SoakReport> {
  const run = new Soak(world);
  await run.disturbed(seconds);
  return run.settled();
}

class Soak {
  readonly #world: SoakWorld;
  readonly #apis: readonly Member[];
  readonly #worker: Member;
  readonly #over = new AbortController();
  readonly #faults = new Disturbance(this.#over.signal);
  #runners: readonly Member[] = [];
  #graphs: readonly Graph[] = [];
  /** How often each identifier was sent. */
  readonly #sent = new Map<string, number>();
  readonly #uploads: Record<string, number> = {};
  readonly #accepted: number[] = [];
  #reprocesses = 0;
  #freezes = 0;

  constructor(world: SoakWorld) {
    this.#world = world;
    const { processes } = world;
    this.#apis = world.apis.map((api) => ({
      kind: 'API processes',
      process: api,
      start: () => processes.startApi({ port: api.port }),
      stopMs: [300, leaseMs * 1.2],
    }));
    this.#worker = {
      kind: 'workers',
      process: world.worker,
      start: () => processes.startWorker('workflows'),
      stopMs: [300, leaseMs * 1.2],
    };
  }

  async disturbed(seconds: number): Promise<void> {
    this.#graphs = await this.#makeGraphs();
    this.#runners = Array.from({ length: processCount }, (_, place) => ({
      kind: 'runner processes',
      process: this.#startRunners(place),
      start: () => this.#startRunners(place),
      stopMs: [leaseMs * 0.8, leaseMs * 1.5],
    }));
    const parts = [
      this.#faults.pause(seconds * 1_000).then(() => this.#untilAllHappened()),
      this.#upload(),
      this.#reprocess(),
      this.#freeze(),
      this.#faults.among(this.#runners, [1_000, 3_000]),
      // One of them at a time: with no API process up, no lease would end.
      this.#faults.among([...this.#apis, this.#worker], [1_000, 4_000]),
    ];
    await Promise.all(parts.map((part) => part.finally(() => this.#over.abort())));
  }

  /** On a busy machine the time alone may pass without a reprocess, a freeze, a fault or a release. */
  async #untilAllHappened(): Promise<void> {
    const released = `select from node_claim where ending = 'release' limit 1`;
    await eventually(
      'a reprocess, a freeze, a fault and a release have happened',
      async () =>
        this.#reprocesses > 0 &&
        this.#freezes > 0 &&
        this.#faults.total > 0 &&
        (await this.#world.database.query(released)).length > 0,
      60_000,
    );
  }

  /** All callers behave well, open work ends, and one more upload goes through every graph. */
  async settled(): Promise<SoakReport> {
    const startedAt = performance.now();
    await eventually('all runners listen', () =>
      this.#runners.every(({ process }) => process.log().includes('listens')),
    );
    for (const { process } of this.#runners) process.kill('SIGUSR2');
    for (const { sessionId } of this.#graphs) await this.#operate(sessionId, 'unfreeze');
    await this.#quiet();
    // Runs may have failed for good, but none may be missing.
    const wrong = await wrongFacts(this.#world.database, false);
    for (const { nodes } of this.#graphs) await this.#uploadTo(nodes.input!, 'last');
    await this.#quiet();
    const settledSeconds = (performance.now() - startedAt) / 1_000;
    for (const { process } of this.#runners) process.kill('SIGTERM');
    const codes = await Promise.all(this.#runners.map(({ process }) => process.ended));
    const broken = this.#runners.filter((_, at) => codes[at] !== 0);
    if (broken.length > 0) throw new Error(`A runner ended badly:\n${broken[0]!.process.log()}`);
    return this.#report(settledSeconds, wrong);
  }

  async #makeGraphs(): Promise<Graph[]> {
    const { database } = this.#world;
    const common = { leaseSeconds: leaseMs / 1_000, maxAttempts: 20 };
    await outsideTemplate(database, incremental, { ...common, incremental: true });
    await outsideTemplate(database, plain, common);
    await outsideTemplate(database, eager, { ...common, trigger: 'any' });
    const graphs: Graph[] = [];
    for (let session = 0; session < sessionCount; session++) {
      const graph = await makeGraph(database, [
        { name: 'input', parents: [] },
        { name: 'first', parents: ['input'], template: incremental },
        { name: 'second', parents: ['first'], template: incremental },
        { name: 'both', parents: ['input', 'first'], template: incremental },
        { name: 'summary', parents: ['first', 'second'], template: plain },
        { name: 'eager', parents: ['input', 'summary'], template: eager },
      ]);
      graphs.push(graph);
    }
    await database.query(`update node_instance set configuration = '{"dataSourceName":"platform"}'`);
    return graphs;
  }

  #startRunners(place: number): TestProcess {
    const plan: SoakPlan = {
      ports: this.#world.apis.map(({ port }) => port),
      token: this.#world.token,
      templates: [incremental, plain, eager],
      instances: Array.from({ length: runnersPerProcess }, (_, at) => `runner-${place}-${at}`),
      leaseMs,
    };
    return this.#world.processes.startScript('test/faults/soak/soak-runner.ts', {
      SOAK_PLAN: JSON.stringify(plan),
    });
  }

  async #upload(): Promise<void> {
    for (let number = 0; await this.#faults.pause(30 + 120 * Math.random()); number++) {
      const { nodes } = this.#anyGraph();
      // Now and then in place of an earlier one.
      const isReplacing = Math.random() < 0.1 && number > 10;
      await this.#uploadTo(nodes.input!, `upload-${isReplacing ? number - 10 : number}`);
    }
  }

  /** Never repeated: the database shows whether an upload without an answer was stored. */
  async #uploadTo(nodeId: number, name: string): Promise<void> {
    const identifier = `${nodeId}-${name}`;
    this.#sent.set(identifier, (this.#sent.get(identifier) ?? 0) + 1);
    const answer = await this.#call('POST', `/api/v2/node-instance/${nodeId}/outputs/data`, {
      'content-type': 'text/csv',
      'x-platform-output-identifier': identifier,
    });
    const outcome = String(answer?.status ?? 'lost');
    this.#uploads[outcome] = (this.#uploads[outcome] ?? 0) + 1;
    if (answer !== undefined && answer.status <= 201) this.#accepted.push(answer.body.id);
  }

  /** Half the sessions get no reprocess or freeze, so that each of their inputs counts once. */
  async #reprocess(): Promise<void> {
    while (await this.#faults.pause(200 + 600 * Math.random())) {
      const graph = this.#graphs[Math.floor((Math.random() * sessionCount) / 2)]!;
      const ids = Object.values(graph.nodes);
      const id = ids[Math.floor(Math.random() * ids.length)]!;
      const answer = await this.#call('POST', `/api/v2/node-instance/${id}/reprocess`);
      if (answer?.status === 202) this.#reprocesses += 1;
    }
  }

  async #freeze(): Promise<void> {
    while (await this.#faults.pause(300 + 900 * Math.random())) {
      const { sessionId } = this.#anyGraph();
      await this.#operate(sessionId, 'freeze');
      await this.#faults.pause(1_000 * Math.random());
      await this.#operate(sessionId, 'unfreeze');
      this.#freezes += 1;
    }
  }

  async #operate(sessionId: string, what: 'freeze' | 'unfreeze'): Promise<void> {
    await eventually(
      `${what} is answered`,
      async () => (await this.#call('POST', `/api/v2/sessions/${sessionId}/${what}`))?.status === 200,
    );
  }

  /** At any of the API processes; undefined when no answer came. */
  async #call(method: string, path: string, headers: Record<string, string> = {}) {
    const { apis, token } = this.#world;
    const { url } = apis[Math.floor(Math.random() * apis.length)]!;
    return await ask(url, method, path, { token, headers }).catch(() => undefined);
  }

  #anyGraph(): Graph {
    return this.#graphs[Math.floor(Math.random() * sessionCount)]!;
  }

  /** Retries wait no longer. */
  async #quiet(): Promise<void> {
    const { database } = this.#world;
    await eventually(
      'all has settled',
      async () => {
        await retriesNow(database);
        await delay(100);
        return await isQuiet(database);
      },
      120_000,
    );
  }

  async #report(settledSeconds: number, wrong: readonly string[]): Promise<SoakReport> {
    const { database } = this.#world;
    const counted = async (statement: string) => {
      const rows = await database.query<{ name: string; count: number }>(statement);
      return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
    };
    const lost = await database.query<{ id: number }>(
      'select id from unnest($1::bigint[]) as a (id) where not exists (select 1 from node_output o where o.id = a.id)',
      [this.#accepted],
    );
    const [outputs] = await database.query<{ count: number }>('select count(*) as count from node_output');
    return {
      uploads: this.#uploads,
      reprocesses: this.#reprocesses,
      freezes: this.#freezes,
      faults: this.#faults.counts,
      runs: await counted('select outcome as name, count(*) as count from node_run group by 1'),
      claims: await counted('select ending as name, count(*) as count from node_claim group by 1'),
      outputs: outputs!.count,
      settledSeconds,
      wrong: [
        ...wrong.map((sentence) => `before the last upload: ${sentence}`),
        ...lost.map(({ id }) => `upload ${id} was accepted and is gone`),
        ...(await wrongFacts(database, true)),
        ...(await consumedTooOften(database, this.#sent)),
      ],
    };
  }
}
