/**
 * What a claim costs when the queue is long. Run: `npm run bench:claims`.
 *
 * 100,000 queued runs in 1,000 sessions (QUEUED_RUNS, SESSIONS), 8 runners that claim and complete at once (CLAIMS of
 * them in each phase, default 4,000): with a runner token, with an account's token, with a runner token and 100 ms of work
 * at each task, and while another connection holds a snapshot of the database, as a backup does. The aim is a p99 under
 * 20 ms. Without work the runners use the whole machine, so a claim waits for the claims of the others.
 * Before that, one runner alone claims and completes by two calls for each task, and by one, in turns: the aim is 1.3
 * times the tasks a second. Then eight claim and complete runs of twenty templates, without limits and with one on each,
 * in turns: the aim is 0.95. Last: from how many sessions the first tasks were, and how PostgreSQL finds the next run.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable, Tx } from '../../store/connection/database.ts';
import { claimNext, registerAndClaim } from '../../store/runs/claims.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { report } from './support/figures.ts';
import { importTemplate, Runner, register, runnerTokenClient } from './support/outside-runner.ts';
import { type BenchClient, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { queueRuns } from './support/queued-runs.ts';
import { openForSeeding } from './support/seeded-sessions.ts';

const runs = Number(process.env.QUEUED_RUNS ?? 100_000);
const sessions = Number(process.env.SESSIONS ?? 1_000);
const claims = Number(process.env.CLAIMS ?? 4_000);
const runners = 8;
const template = 'queued-node';

/** Rolls back a transaction whose plan was shown. */
class Shown extends Error {}

printMachine();
const platform = await startBenchPlatform();
const database = await openForSeeding(platform);
try {
  const { client } = platform;
  await register(client, template);
  const definition = await importTemplate(client, template, Math.ceil(runs / sessions), 1);
  const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
  const size = { sessions, templateId: definition.id, projectId: project.id, spreadSeconds: 0.2 };
  console.log(`${await queueRuns(database, size)} runs queued in ${sessions} sessions`);
  const tokenClient = await runnerTokenClient(platform, template);
  // Warms up: PostgreSQL plans a statement anew for its first five uses on each connection.
  const first = await work(tokenClient, 1_000);
  await compareNext(tokenClient);
  await compareLimited();
  await printWork('runner token', tokenClient);
  await printWork('account token', client);
  await printWork('runner token, 100 ms of work at each task', tokenClient, {
    workMs: 100,
    count: claims / 2,
  });
  await database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read');
    await tx.query('select count(*) from node_run');
    await printWork('runner token, a snapshot is kept open', tokenClient, { snapshot: tx });
  });
  printFairness(first.sessionIds);
  await printPlans();
  tokenClient.close();
} finally {
  await database.close();
  await platform.stop();
}

interface Work {
  readonly claimMs: readonly number[];
  readonly completeMs: readonly number[];
  /** The sessions of the tasks, in the order in which they were handed out. */
  readonly sessionIds: readonly string[];
}

/** @param snapshot a transaction that must not be ended for being idle meanwhile */
async function printWork(
  kind: string,
  client: BenchClient,
  { snapshot, workMs = 0, count = claims }: { snapshot?: Queryable; workMs?: number; count?: number } = {},
): Promise<void> {
  const before = cpuSeconds(platform);
  const startedAt = performance.now();
  const alive = setInterval(() => void snapshot?.query('select 1'), 3_000);
  const { claimMs, completeMs } = await work(client, count, workMs);
  clearInterval(alive);
  const seconds = (performance.now() - startedAt) / 1_000;
  printFigure(`claim, ${kind}`, claimMs, { aim: { of: 'p99', most: 20 } });
  printFigure(`complete, ${kind}`, completeMs);
  report({ name: `claims and completions, ${kind}`, unit: 'a second', values: [claimMs.length / seconds] });
  console.log(
    `    ${(claimMs.length / seconds).toFixed(0)} claims and completions a second, ${runners} runners`,
  );
  printCpu(platform, before, claimMs.length);
}

async function work(client: BenchClient, count: number, workMs = 0): Promise<Work> {
  const claimMs: number[] = [];
  const completeMs: number[] = [];
  const sessionIds: string[] = [];
  await Promise.all(
    Array.from({ length: runners }, async () => {
      const runner = new Runner(client, template);
      while (sessionIds.length < count) {
        const startedAt = performance.now();
        const task = await runner.claim(0);
        const heldAt = performance.now();
        if (task === undefined) return;
        claimMs.push(heldAt - startedAt);
        sessionIds.push(task.sessionId);
        if (workMs > 0) await delay(workMs);
        const doneAt = performance.now();
        await runner.complete(task, 'no-output');
        completeMs.push(performance.now() - doneAt);
      }
    }),
  );
  return { claimMs, completeMs, sessionIds };
}

/** In turns, so that other load of the machine affects both. */
async function compareNext(client: BenchClient): Promise<void> {
  const rounds = 6;
  const runner = new Runner(client, template);
  const count = Math.ceil(claims / rounds / 2);
  const plain: number[] = [];
  const next: number[] = [];
  for (let round = 0; round < rounds; round++) {
    plain.push(await tasksASecond(count, () => byTwoCalls(runner, count)));
    next.push(await tasksASecond(count, () => byOneCall(runner, count)));
  }
  report({ name: 'tasks of one runner, claim and complete', unit: 'a second', values: plain });
  report({ name: 'tasks of one runner, complete with next', unit: 'a second', values: next });
  const [two, one] = [median(plain), median(next)];
  console.log(
    `one runner: ${two.toFixed(0)} tasks a second by two calls, ${one.toFixed(0)} by one: ${(one / two).toFixed(2)} times (aim 1.3)`,
  );
}

/** Runs of twenty templates, without limits and with a limit on each, in turns. */
async function compareLimited(): Promise<void> {
  const rounds = 6;
  const count = Math.ceil(claims / rounds / 2);
  const rates = { free: [] as number[], limited: [] as number[] };
  const names = Array.from({ length: 20 }, (_, at) => `limited-${at}`);
  for (const name of names) await register(platform.client, name);
  await spread(names, count * rounds * 3);
  const limitedClient = await runnerTokenClient(platform, names);
  for (let round = 0; round < rounds * 2; round++) {
    const kind = round % 2 === 0 ? 'free' : 'limited';
    for (const name of names) {
      const path = `/api/v2/admin/concurrency/${name}`;
      if (kind === 'limited')
        await platform.client.expect(200, 'PUT', path, { kind: 'nodeTemplate', max: 5 });
      else await platform.client.expect(204, 'DELETE', `${path}?kind=nodeTemplate`);
    }
    // Claims know of it within a second.
    await delay(1_100);
    const before = cpuSeconds(platform);
    rates[kind].push(await tasksASecond(count, () => workOn(limitedClient, names, count)));
    printCpu(platform, before, count);
  }
  limitedClient.close();
  report({ name: 'claims and completions, no limit', unit: 'a second', values: rates.free });
  report({ name: 'claims and completions, 20 limits', unit: 'a second', values: rates.limited });
  const [free, limited] = [median(rates.free), median(rates.limited)];
  console.log(
    `${free.toFixed(0)} claims and completions a second without limits, ${limited.toFixed(0)} with 20: ${(limited / free).toFixed(2)} times (aim 0.95)`,
  );
}

/** Moves queued runs to other templates. */
async function spread(names: readonly string[], count: number): Promise<void> {
  await database.query(
    `with chosen as (
       select r.id, r.node_instance_id, ($1::text[])[1 + abs(hashtext(r.id::text)) % cardinality($1::text[])] as name
         from node_run r where r.template_name = $2 and r.state = 'queued' order by r.queue_time desc limit $3
     ), nodes as (
       update node_instance n set node_template_id = t.id
         from chosen join node_template t on t.name = chosen.name where n.id = chosen.node_instance_id
     )
     update node_run r set template_name = chosen.name, runner_type = t.runner_type
       from chosen join node_template t on t.name = chosen.name where r.id = chosen.id`,
    [names, template, count],
  );
}

/** Eight runners, each of which claims of one template after another. */
async function workOn(client: BenchClient, names: readonly string[], count: number): Promise<void> {
  let done = 0;
  await Promise.all(
    Array.from({ length: runners }, async (_, place) => {
      const instances = names.map((name) => new Runner(client, name));
      for (let at = place; done < count; at += 3) {
        const runner = instances[at % names.length]!;
        const task = await runner.claim(0);
        if (task === undefined) continue;
        done += 1;
        await runner.complete(task, 'no-output');
      }
    }),
  );
}

async function tasksASecond(count: number, run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return (count * 1_000) / (performance.now() - startedAt);
}

async function byTwoCalls(runner: Runner, count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const task = await runner.claim(0);
    if (task === undefined) throw new Error('The queue is empty: raise QUEUED_RUNS.');
    await runner.complete(task, 'no-output');
  }
}

async function byOneCall(runner: Runner, count: number): Promise<void> {
  let task = await runner.claim(0);
  for (let done = 0; done < count; done++) {
    if (task === undefined) throw new Error('The queue is empty: raise QUEUED_RUNS.');
    if (done < count - 1) task = await runner.completeAndClaim(task);
    else await runner.complete(task, 'no-output');
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function printFairness(sessionIds: readonly string[]): void {
  for (const count of [100, 1_000]) {
    const firsts = sessionIds.slice(0, count);
    const bySession = new Map<string, number>();
    for (const id of firsts) bySession.set(id, (bySession.get(id) ?? 0) + 1);
    console.log(
      `the first ${firsts.length} tasks came from ${bySession.size} sessions, at most ${Math.max(...bySession.values())} from one`,
    );
  }
}

/** The statements as the platform sends them, run in a transaction that is rolled back. */
async function printPlans(): Promise<void> {
  const identity = { holder: 'user:bench', instanceId: randomUUID() };
  const kinds: Record<string, (on: Tx) => Promise<unknown>> = {
    'a claim for one template': (on) => registerAndClaim(on, identity, { template, leaseSeconds: 30 }),
    'a claim that waits': (on) =>
      claimNext(on, identity, { claimSeq: 1, templates: [template], leaseSeconds: 30 }),
  };
  for (const [kind, claim] of Object.entries(kinds)) {
    const explained = database.transaction(async (tx) => {
      await tx.query('set local plan_cache_mode = force_generic_plan');
      await tx.query(`insert into runner_instance (holder, instance_id, claim_seq) values ($1, $2, 1)`, [
        identity.holder,
        identity.instanceId,
      ]);
      const query = tx.query.bind(tx);
      const explain = async <R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> => {
        const lines = await query<{ 'QUERY PLAN': string }>(
          `explain (analyze, buffers, costs off) ${statement}`,
          parameters,
        );
        console.log(`\nPlan of ${kind}:\n${executed(lines.map((line) => line['QUERY PLAN'])).join('\n')}`);
        throw new Shown();
      };
      await claim(Object.assign(tx, { query: explain }));
    });
    await explained.catch((error: unknown) => {
      if (!(error instanceof Shown)) throw error;
    });
  }
}

/** Without the parts that had nothing to do. */
function executed(lines: readonly string[]): string[] {
  const indentOf = (line: string) => line.search(/[^ ]/);
  let skippedIndent = Number.POSITIVE_INFINITY;
  return lines.filter((line) => {
    if (indentOf(line) > skippedIndent) return false;
    skippedIndent = line.includes('(never executed)') ? indentOf(line) : Number.POSITIVE_INFINITY;
    return skippedIndent === Number.POSITIVE_INFINITY;
  });
}
