/**
 * Incremental processing over HTTP on the real servers, against a model. With any uploads, caps, deaths, lost answers,
 * failures, rejections, cancels and repeats, every input is consumed exactly once and in order, all outputs of what is
 * consumed are published, there are exactly the runs that are needed, and the watermark never goes back. `INCREMENTAL_WALKS` sets how many random walks are made, `INCREMENTAL_SEED` with which seed.
 */
import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, startTestApi, type TestApi } from '../../support/api.ts';
import { makeGraph, outsideTemplate } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';
import { faults } from './incremental-faults.ts';
import { IncrementalModel } from './incremental-model.ts';
import { type Stage, type Work, workOnce } from './incremental-runner.ts';

const walks = Number(process.env.INCREMENTAL_WALKS ?? 6);
const seed = process.env.INCREMENTAL_SEED;
const caps = [1, 3, 100] as const;

const stage = await runnerStage();
const { database, people } = stage;
/** One server for each cap. */
const servers = new Map<number, TestApi>();
beforeAll(async () => {
  for (const cap of caps) {
    const variables = { INCREMENTAL_MAX_INPUTS: String(cap), DATABASE_POOL_SIZE: '6' };
    servers.set(cap, await startTestApi({ ...stage.platform.environment, ...variables }));
  }
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
});

const parents = ['left', 'right'];

type Step =
  | { readonly kind: 'upload'; readonly parent: number; readonly identifier: string | null }
  | { readonly kind: 'work'; readonly work: Work }
  /** For inputs chosen by their place among the uploads, or for all. */
  | { readonly kind: 'reprocess'; readonly chosen: readonly number[] | null }
  | { readonly kind: 'retry' }
  | { readonly kind: 'cancel' };

const fault = fc.oneof(
  { weight: 12, arbitrary: fc.constant('none' as const) },
  { weight: 6, arbitrary: fc.constantFrom(...faults) },
);
const work = fc.record({
  faults: fc.array(fault, { minLength: 4, maxLength: 14 }),
  takes: fc.oneof({ weight: 3, arbitrary: fc.constant(1_000) }, { weight: 1, arbitrary: fc.nat(3) }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('upload' as const),
      parent: fc.nat(1),
      identifier: fc.constantFrom(null, null, 'a', 'b'),
    }),
  },
  { weight: 6, arbitrary: work.map((work) => ({ kind: 'work' as const, work })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reprocess' as const),
      chosen: fc.option(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 })),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'retry' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
);
const walk = fc.record({
  cap: fc.constantFrom(...caps),
  parents: fc.integer({ min: 1, max: 2 }),
  trigger: fc.constantFrom('all' as const, 'any' as const),
  reprocess: fc.constantFrom('latest' as const, 'all' as const),
  isNaming: fc.boolean(),
  steps: fc.array(step, { minLength: 12, maxLength: 24 }),
});
type Walk = typeof walk extends fc.Arbitrary<infer T> ? T : never;

async function setUp(plan: Walk): Promise<Stage> {
  const template = `incremental-${randomUUID()}`;
  await outsideTemplate(database, template, { incremental: true, trigger: plan.trigger, maxAttempts: 20 });
  await database.query('update node_template set reprocess = $2 where name = $1', [template, plan.reprocess]);
  const inputs = parents.slice(0, plan.parents);
  const graph = await makeGraph(database, [
    ...inputs.map((name) => ({ name, parents: [] })),
    { name: 'n1', parents: inputs, template },
  ]);
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
    [graph.sessionId],
  );
  return {
    url: servers.get(plan.cap)!.url,
    token: people.Developer.token,
    database,
    graph,
    template,
    model: new IncrementalModel(inputs, plan.trigger, plan.reprocess),
    maxInputsPerTask: plan.cap,
    isNaming: plan.isNaming,
  };
}

let uploads = 0;

async function upload({ url, token, graph, model }: Stage, parent: string, identifier: string | null) {
  const bytes = `upload ${uploads++}`;
  const response = await fetch(`${url}/api/v2/node-instance/${graph.nodes[parent]}/outputs/data`, {
    method: 'POST',
    body: bytes,
    headers: {
      authorization: `Bearer ${token}`,
      ...(identifier !== null && { 'x-platform-output-identifier': identifier }),
    },
  });
  expect([200, 201]).toContain(response.status);
  const { id } = (await response.json()) as { id: number };
  model.uploaded(parent, id, createHash('sha256').update(bytes).digest('hex'));
}

async function reprocess({ url, token, graph, model }: Stage, chosen: readonly number[] | null) {
  const { versions } = model;
  const inputs = versions.length === 0 ? null : chosen?.map((at) => versions[at % versions.length]!.outputId);
  const path = `/api/v2/node-instance/${graph.nodes.n1}/reprocess`;
  const answer = await ask(url, 'POST', path, { token, json: { inputs } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(model.isReady ? 202 : 400);
  if (model.isReady) model.reprocessed(inputs ?? null);
}

const runs = '/api/v2/admin/node-runs';

/** The node's newest run, as operators see it; undefined before the first. */
async function newestRun({ url, token, graph, model }: Stage) {
  const { body } = await ask(url, 'GET', `${runs}?nodeInstanceId=${graph.nodes.n1}&pageSize=1`, { token });
  expect(body.totalCount).toBe(model.runs);
  return body.nodeRuns[0];
}

async function cancel(stage: Stage) {
  const { url, token, model } = stage;
  const run = await newestRun(stage);
  if (run === undefined) return;
  const answer = await ask(url, 'POST', `${runs}/${run.id}/cancel`, { token });
  if (model.open === null) expect([200, 409]).toContain(answer.status);
  else {
    expect(answer).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    model.cancelled();
  }
}

/** An operator has the newest run tried again, whether or not it failed. */
async function retry(stage: Stage) {
  const { url, token, model } = stage;
  const run = await newestRun(stage);
  if (run === undefined) return;
  expect(run.retryable).toBe(model.open === null && model.parked !== null);
  const answer = await ask(url, 'POST', `${runs}/${run.id}/retry`, { token });
  expect(answer.status === 202, JSON.stringify(answer.body)).toBe(run.retryable);
  if (run.retryable) model.retried();
}

let highest = 0;

async function expectAsModel({ graph, model }: Stage): Promise<void> {
  const [node] = await database.query<{ position: number }>(
    `select watermark_output_id as output_id, watermark_position as position,
            (select count(*) from node_run r where r.node_instance_id = n.id) as runs,
            (select count(*) from node_run r where r.node_instance_id = n.id and r.state <> 'done') as open
       from node_instance n where n.id = $1`,
    [graph.nodes.n1],
  );
  const { watermark, runs, open } = model;
  expect(node).toMatchObject({ outputId: watermark.outputId, runs, open: open ? 1 : 0 });
  expect(node!.position).toBeGreaterThanOrEqual(highest);
  highest = node!.position;
  const outputs = await database.query<{ of: string }>(
    `select metadata ->> 'of' as of from node_output where node_instance_id = $1 and position is not null
      order by position`,
    [graph.nodes.n1],
  );
  expect(outputs.map(({ of }) => of)).toEqual(model.published);
  const rejected = await database.query<{ id: number }>(
    'select output_id as id from rejected_input where node_instance_id = $1',
    [graph.nodes.n1],
  );
  expect(new Set(rejected.map(({ id }) => id))).toEqual(model.rejected);
}

async function acquire(stage: Stage, step: Step): Promise<void> {
  switch (step.kind) {
    case 'upload':
      return upload(
        stage,
        parents[step.parent % (Object.keys(stage.graph.nodes).length - 1)]!,
        step.identifier,
      );
    case 'work':
      return workOnce(stage, step.work);
    case 'reprocess':
      return reprocess(stage, step.chosen);
    case 'retry':
      return retry(stage);
    case 'cancel':
      return cancel(stage);
  }
}

test('every input is consumed exactly once, in order and together with its outputs, by exactly the runs that are needed', {
  timeout: 300_000 + walks * 15_000,
}, async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(walk, async (plan) => {
      const stage = await setUp(plan);
      highest = 0;
      for (const step of plan.steps) {
        await acquire(stage, step);
        await expectAsModel(stage);
      }
      for (const parent of parents.slice(0, plan.parents)) await upload(stage, parent, null);
      for (let rounds = 0; stage.model.open; rounds += 1) {
        await workOnce(stage, { faults: [], takes: 1_000 });
        await expectAsModel(stage);
        expect(rounds).toBeLessThan(100);
      }
      expect(stage.model.watermark.position).toBe(stage.model.versions.length);
      runs += stage.model.runs;
    }),
    { numRuns: walks, endOnFailure: true, ...(seed !== undefined && { seed: Number(seed) }) },
  );
  if (process.env.INCREMENTAL_WALKS !== undefined) console.log(`${walks} walks, ${runs} runs`);
});
