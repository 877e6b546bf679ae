import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { manifestRoutes } from '../../api/manifests/routes.ts';
import { apiStage, ask, startTestApi } from '../support/api.ts';
import { ship } from '../support/templates.ts';

const { api, people, platform } = await apiStage({ routes: manifestRoutes });

beforeAll(async () => {
  await ship(api.composed.services.database);
});

const publish = (json: unknown, token = people.Developer.token) =>
  ask(api.url, 'POST', '/api/v2/admin/runner-manifests', { token, json });
const registered = (name: string) =>
  api.composed.services.database.query(
    `select t.type, t.incremental, t.max_attempts, t.retired, t.feature_name, r.runtime
       from node_template t join runner_type r on r.name = t.runner_type where t.name = $1`,
    [name],
  );

const manifest = (
  feature: string,
  version: string,
  nodes: readonly string[],
  runner = `${feature}-runner`,
) => ({
  manifestVersion: 1,
  feature: { name: feature, version, ownershipType: 'ThirdParty' },
  runnerTypes: [{ name: runner, runtime: 'external' }],
  nodeTemplates: nodes.map((name) => ({
    name,
    runnerType: runner,
    type: 'Processing',
    configurationSchema: { type: 'object' },
    incremental: true,
    maxAttempts: 5,
  })),
});

describe('the list of manifests', () => {
  const list = (query = '', token = people.Developer.token) =>
    ask(api.url, 'GET', `/api/v2/admin/runner-manifests${query}`, { token });

  test('lists every feature with its registered names, retired last, and returns the requested manifest', async () => {
    await publish(manifest('listing', '1.0.0', ['list-old', 'list-kept']));
    const second = manifest('listing', '1.1.0', ['list-kept']);
    await publish(second);
    const answer = await list('?feature=listing');
    expect(answer.status).toBe(200);
    const feature = answer.body.find(({ name }: { name: string }) => name === 'listing');
    expect(feature).toMatchObject({
      version: '1.1.0',
      runnerTypes: [{ name: 'listing-runner', runtime: 'external', entrypoint: null, retired: false }],
      nodeTemplates: [
        { name: 'list-kept', runnerType: 'listing-runner', type: 'Processing', retired: false },
        { name: 'list-old', retired: true },
      ],
    });
    // Publishing the returned manifest again changes nothing.
    expect((await publish(feature.manifest)).body.published).toBe(true);
    const bare = await list();
    expect(bare.body.every((one: { manifest: unknown }) => one.manifest === null)).toBe(true);
    expect((await list('', people.Instructor.token)).status).toBe(403);
  });
});

describe('publishing a manifest', () => {
  test('registers all of it and answers with the names', async () => {
    const answer = await publish(manifest('vision', '1.0.0', ['find-birds', 'find-cars']));
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        published: true,
        runnerTypes: ['vision-runner'],
        templates: ['find-birds', 'find-cars'],
        errors: [],
        warnings: [],
      },
    ]);
    expect(await registered('find-birds')).toEqual([
      {
        type: 'Processing',
        incremental: true,
        maxAttempts: 5,
        retired: false,
        featureName: 'vision',
        runtime: 'external',
      },
    ]);
  });

  test('again retires names that are no longer listed and restores names that are listed again', async () => {
    await publish(manifest('audio', '1.0.0', ['hear-birds', 'hear-cars']));
    const second = await publish(manifest('audio', '1.1.0', ['hear-birds']));
    expect(second.body.warnings).toEqual([
      { path: '$.nodeTemplates', message: "Node template 'hear-cars' is no longer listed and is retired." },
    ]);
    expect(await registered('hear-cars')).toMatchObject([{ retired: true }]);
    expect((await publish(manifest('audio', '1.1.0', ['hear-cars']))).status).toBe(200);
    expect(await registered('hear-cars')).toMatchObject([{ retired: false }]);
    expect(await registered('hear-birds')).toMatchObject([{ retired: true }]);
  });

  test('with any fault changes nothing and lists every fault in the same shape', async () => {
    const wrong = manifest('broken', '1.0.0', ['fine-node', 'Bad Node']);
    wrong.runnerTypes.push({ name: 'system', runtime: 'external' });
    const answer = await publish(wrong);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      status: 'error',
      message: 'The manifest is not valid.',
      published: false,
    });
    expect(answer.body.errors.map((item: { path: string }) => item.path)).toEqual([
      '$.nodeTemplates[1].name',
      '$.runnerTypes[1].name',
    ]);
    expect(answer.body).toMatchObject({ runnerTypes: ['broken-runner', 'system'], templates: ['fine-node'] });
    expect(await registered('fine-node')).toEqual([]);
  });

  test('never lets two racing features register the same name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => publish(manifest(`racer${index}`, '1.0.0', ['shared-name']))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
    const winner = answers.findIndex((answer) => answer.status === 200);
    expect(await registered('shared-name')).toMatchObject([{ featureName: `racer${winner}` }]);
  });

  test('of a lower version is refused', async () => {
    await publish(manifest('aged', '2.0.0', ['aged-node']));
    const answer = await publish(manifest('aged', '1.9.9', ['aged-node']));
    expect(answer.body.errors.map((item: { path: string }) => item.path)).toEqual(['$.feature.version']);
  });

  test('of the same version applies the changes', async () => {
    await publish(manifest('steady', '1.0.0', ['steady-node']));
    const changed = manifest('steady', '1.0.0', ['steady-node']);
    Object.assign(changed.nodeTemplates[0]!, { maxAttempts: 7, incremental: false });
    expect((await publish(changed)).status).toBe(200);
    expect(await registered('steady-node')).toMatchObject([{ maxAttempts: 7, incremental: false }]);
  });

  test('of a deployed runner warns while the runner host is off', async () => {
    const deployed = (feature: string) => {
      const { runnerTypes, ...rest } = manifest(feature, '1.0.0', [`${feature}-node`]);
      return { ...rest, runnerTypes: [{ ...runnerTypes[0], runtime: 'sdk', entrypoint: 'runner.mjs' }] };
    };
    const answer = await publish(deployed('off'));
    expect([answer.status, answer.body.published]).toEqual([200, true]);
    expect(answer.body.warnings).toMatchObject([{ path: '$.runnerTypes[0].runtime' }]);
    expect(await registered('off-node')).toMatchObject([{ runtime: 'sdk' }]);
    const folder = mkdtempSync(join(tmpdir(), 'sdp-runners-'));
    writeFileSync(join(folder, 'runner.mjs'), '');
    const host = await startTestApi(
      { ...platform.environment, SDK_RUNNERS_DIR: folder },
      { routes: manifestRoutes },
    );
    try {
      const on = await ask(host.url, 'POST', '/api/v2/admin/runner-manifests', {
        token: people.Developer.token,
        json: deployed('on'),
      });
      expect([on.status, on.body.warnings]).toEqual([200, []]);
    } finally {
      await host.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test.each([[undefined], [[]], ['x'], [{}]])('refuses %j', async (json) => {
    expect(await publish(json)).toMatchObject({ status: 400, body: { published: false } });
  });

  test('is for Administrators and Developers with an access token', async () => {
    for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken]) {
      expect((await publish(manifest('roles', '1.0.0', []), token)).status).toBe(403);
    }
    expect((await publish(manifest('roles', '1.0.0', []), people.Administrator.token)).status).toBe(200);
  });
});

describe('validating a manifest', () => {
  const validate = (json: unknown) =>
    ask(api.url, 'POST', '/api/v2/runner/manifests/validate', { token: people.Developer.token, json });

  test('makes the same checks, answers in the same shape, and changes nothing', async () => {
    const right = manifest('tried', '1.0.0', ['tried-node']);
    const fine = await validate(right);
    expect([fine.status, fine.body]).toEqual([
      200,
      {
        published: false,
        runnerTypes: ['tried-runner'],
        templates: ['tried-node'],
        errors: [],
        warnings: [],
      },
    ]);
    expect(await registered('tried-node')).toEqual([]);
    await publish(right);
    const lower = await validate(manifest('tried', '0.9.0', ['tried-node', 'x--y']));
    expect(lower).toMatchObject({
      status: 400,
      body: { status: 'error', code: 'invalid_request', published: false, templates: ['tried-node'] },
    });
    expect(lower.body.errors.map((item: { path: string }) => item.path)).toEqual([
      '$.feature.version',
      '$.nodeTemplates[1].name',
    ]);
    const taken = await validate(manifest('thief', '1.0.0', ['tried-node']));
    expect(taken.body.errors).toEqual([
      {
        path: '$.nodeTemplates[0].name',
        message: "Node template 'tried-node' is registered by another feature.",
      },
    ]);
  });
});
