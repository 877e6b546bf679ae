/** The kit's server and the platform answer the same calls alike. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runnerRoutes } from '../../api/runner/routes.ts';
import { limits } from '../../domain/limits.ts';
import { limits as kitLimits } from '../../sdk/conformance/server/limits.ts';
import type { Node } from '../../sdk/conformance/server/model.ts';
import { routes as kitRoutes } from '../../sdk/conformance/server/routes.ts';
import { ContractServer } from '../../sdk/conformance/server/server.ts';
import { endOverdueClaims } from '../../store/runs/expire-leases.ts';
import { ask } from '../support/api.ts';
import { outsideTemplate } from '../support/graph.ts';
import { type RunnerStage, runnerStage, type StageGraph } from '../support/runner.ts';
import { Driver, type Offered, type OfferedInput, type Side } from './driver.ts';
import { chapters } from './script/all.ts';
import { sideChapters } from './script/side-calls.ts';

/** The cap of both sides. */
const inputsPerTask = 5;
const stage = await runnerStage({ INCREMENTAL_MAX_INPUTS: String(inputsPerTask) });
let platformSide: Side;

beforeAll(async () => {
  platformSide = await sideOfPlatform(stage);
});

async function sideOfPlatform({ api, database, people, chainOf, upload }: RunnerStage): Promise<Side> {
  await outsideTemplate(database, 'foreign', { runnerType: 'foreign-runner' });
  // The runner type must exist before a token can cover it.
  await chainOf(1);
  const token = await ask(api.url, 'POST', '/api/v2/admin/runner-tokens', {
    token: people.Developer.token,
    json: { runnerTypes: ['outside-runner'], label: 'conformance' },
  });
  if (token.status !== 201) throw new Error(`runner token: ${token.status} ${JSON.stringify(token.body)}`);
  const graphs = new Map<string, StageGraph>();
  const publish = async (graph: StageGraph, input: OfferedInput): Promise<number> => {
    const headers = {
      'content-type': input.contentType ?? 'application/octet-stream',
      ...(input.contentEncoding === undefined ? {} : { 'content-encoding': input.contentEncoding }),
      'x-platform-output-identifier': nextName(),
    };
    return (await upload(graph, 'input', input.bytes, headers)).body.id;
  };
  return {
    url: api.url,
    token: token.body.token,
    async offer(inputs, options) {
      const graph = await chainOf(1, options);
      graphs.set(graph.template, graph);
      const inputIds: number[] = [];
      for (const input of inputs) inputIds.push(await publish(graph, input));
      return { template: graph.template, inputIds };
    },
    publish: ({ template }, input) => publish(graphs.get(template)!, input),
    async loseLease(taskId) {
      await database.query(`update node_claim set lease_until = now() - interval '1 ms' where task_id = $1`, [
        taskId,
      ]);
      // What a worker does within seconds.
      await endOverdueClaims(database, 100, Math.random);
    },
    async cancel(taskId) {
      await database.query(
        'update node_run set cancel_requested = true where id = (select run_id from node_claim where task_id = $1)',
        [taskId],
      );
    },
    waitingClaims: () => api.composed.services.runners.waiters.idleCount,
    foreignTemplate: () => 'foreign',
  };
}

let named = 0;
/** Names of inputs, the same on both sides: their place in the chapter. */
function nextName(): string {
  named += 1;
  return `in-${named}`;
}

/** A separate server, so that no chapter claims tasks that another left. */
async function sideOfKit(): Promise<Side & { readonly close: () => Promise<void> }> {
  const { leaseSeconds } = limits;
  const kit = await ContractServer.start({
    templates: [
      { name: 'plain', incremental: false, maxAttempts: 3, leaseSeconds },
      { name: 'single', incremental: false, maxAttempts: 1, leaseSeconds },
      { name: 'incremental', incremental: true, maxAttempts: 3, leaseSeconds },
    ],
    foreignTemplates: ['foreign'],
    limits: { inputsPerTask },
  });
  const nodes = new Map<Offered, Node>();
  const offer = (input: OfferedInput) => ({ ...input, outputIdentifier: nextName() });
  return {
    url: kit.url,
    token: kit.token,
    async offer(inputs, options = {}) {
      const template = options.incremental ? 'incremental' : options.maxAttempts === 1 ? 'single' : 'plain';
      const node = kit.world.offer({ inputs: inputs.map(offer), template });
      const offered = { template, inputIds: node.inputs.map(({ outputId }) => outputId) };
      nodes.set(offered, node);
      return offered;
    },
    publish: async (offered, input) => kit.world.publish(nodes.get(offered)!, offer(input)).outputId,
    async loseLease(taskId) {
      kit.world.desk.loseLease(kit.world.desk.claims.get(taskId)!);
    },
    async cancel(taskId) {
      kit.world.desk.claims.get(taskId)!.run.cancelRequested = true;
    },
    waitingClaims: () => kit.world.desk.waiting,
    foreignTemplate: () => 'foreign',
    close: () => kit.close(),
  };
}

async function notesOf(side: Side, play: (driver: Driver) => Promise<void>) {
  named = 0;
  const driver = new Driver(side);
  await play(driver);
  return driver.notes;
}

const hasSideCalls = runnerRoutes.some(({ path }) => path.includes('/rejections/'));
const played = Object.entries({ ...chapters, ...(hasSideCalls ? sideChapters : {}) });

describe('platform and kit answer alike:', () => {
  test.for(played)('%s', async ([, play]) => {
    const platform = await notesOf(platformSide, play);
    const kit = await sideOfKit();
    onTestFinished(() => kit.close());
    expect(platform.length).toBeGreaterThan(1);
    expect(await notesOf(kit, play)).toEqual(platform);
  });
});

test('whoami returns the same limits, in the same fields', async () => {
  const kit = await sideOfKit();
  onTestFinished(() => kit.close());
  const whoami = async (side: Side) =>
    (await ask(side.url, 'GET', '/api/v2/runner/whoami', { token: side.token })).body;
  const [platform, double] = [await whoami(platformSide), await whoami(kit)];
  expect(double.limits).toEqual(platform.limits);
  expect(Object.keys(double).sort()).toEqual(Object.keys(platform).sort());
  expect([double.kind, double.scopes]).toEqual([platform.kind, platform.scopes]);
  expect(Object.keys(double.templates[0]).sort()).toEqual(Object.keys(platform.templates[0]).sort());
});

test('the kit has every route by which runners work', () => {
  const named = (method: string, path: string) => `${method} ${path}`;
  const ofPlatform = runnerRoutes
    .map(({ method, path }) => named(method, path.replace('/api/v2/runner', '')))
    .filter((route) => !/ \/(debug|manifests)\//.test(route));
  // Kits work with platforms that do not have these yet.
  const isNew = (route: string) => /logs$|rejections|annotations/.test(route) && !ofPlatform.includes(route);
  const ofKit = kitRoutes.map(({ method, path }) => named(method, path)).filter((route) => !isNew(route));
  expect(ofKit.sort()).toEqual(ofPlatform.sort());
});

test('the numbers of the kit are those of the platform', () => {
  expect({ ...kitLimits }).toMatchObject({
    jsonBodyBytes: limits.jsonBodyBytes,
    jsonDepthLevels: limits.jsonDepthLevels,
    nameCharacters: limits.nameCharacters,
    descriptionCharacters: limits.descriptionCharacters,
    templateNames: limits.templateNodes,
    instanceCharacters: limits.runnerInstanceCharacters,
    claimWaitMaxSeconds: limits.claimWaitMaxSeconds,
    leaseSeconds: limits.leaseSeconds,
    maxAttempts: limits.maxAttemptsDefault,
    stateBytes: limits.runnerStateBytes,
    stateDepthLevels: limits.freeJsonDepthLevels,
    inputsPageDefault: limits.inputsPageDefault,
    inputsPageMax: limits.inputsPageMax,
    inputsPerTask: limits.incrementalInputsPerTaskDefault,
    outputBytes: limits.runnerOutputBytes,
    outputIdentifierCharacters: limits.outputIdentifierCharacters,
    outputMetadataBytes: limits.outputMetadataBytes,
    partMinBytes: limits.uploadPartMinBytes,
    partMaxBytes: limits.uploadPartMaxBytes,
    parts: limits.uploadParts,
    maxId: limits.maxId,
    annotationsPerCall: limits.annotationsPerCall,
    annotationTags: limits.annotationTags,
    annotationTagCharacters: limits.annotationTagCharacters,
  });
});
