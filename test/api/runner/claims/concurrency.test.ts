import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, untilServed } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeGraph, outsideTemplate, upload } from '../../../support/graph.ts';
import { copySession } from '../../../support/rows-read.ts';
import { runnerStage, type StageGraph } from '../../../support/runner.ts';

const stage = await runnerStage();
const { database, people, api } = stage;
const { waiters, templates } = api.composed.services.runners;
const path = '/api/v2/admin/concurrency';

async function limit(name: string, json: object, token = people.Developer.token) {
  const answer = await ask(api.url, 'PUT', `${path}/${name}`, { token, json });
  // Claims know of it a second later by themselves.
  await templates.load(0);
  return answer;
}

/** An input node with `count` children of a template; all are queued at once. */
async function fan(count: number, of: Partial<StageGraph> & { runnerType?: string } = {}) {
  const template = of.template ?? `t-${randomUUID()}`;
  if (of.template === undefined)
    await outsideTemplate(database, template, of.runnerType ? { runnerType: of.runnerType } : {});
  const children = Array.from({ length: count }, (_, at) => ({
    name: `n${at}`,
    parents: ['input'],
    template,
  }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
  return { ...graph, template };
}

const claimed = async (template: string, times: number) => {
  const tasks = [];
  for (let time = 0; time < times; time += 1) {
    const runner = stage.runner();
    const answer = await runner.claim(template);
    if (answer.status === 200) tasks.push({ runner, ...answer.body });
  }
  return tasks;
};

/** Listens as waiting claims do; `seen` resolves when the template is notified. */
async function notified(template: string): Promise<{ readonly seen: Promise<void> }> {
  const client = new pg.Client({ connectionString: stage.platform.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  const seen = new Promise<void>((resolve) => {
    client.on('notification', ({ payload }) => {
      if (payload === template) resolve();
    });
  });
  await client.query('listen task_ready');
  return { seen };
}

describe('a concurrency limit', () => {
  test('of a node template is held when many claim at once, and a freed place is used at once', async () => {
    const graph = await fan(20);
    await limit(graph.template, { max: 3 });
    await upload(database, graph, 'input');
    const runners = Array.from({ length: 12 }, () => stage.runner());
    const answers = await Promise.all(runners.map((runner) => runner.claim(graph.template)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);

    const waiting = stage.runner().claim(graph.template, 30);
    await eventually('a claim waits', () => waiters.count === 1 && waiters.idleCount === 1);
    const [at] = answers.flatMap(({ status }, place) => (status === 200 ? [place] : []));
    const { seen } = await notified(graph.template);
    await runners[at!]!.end(answers[at!]!.body.taskId, 'release', {});
    await seen;
    expect((await waiting).status).toBe(200);
  });

  test('of a runner type counts all its node templates', async () => {
    const runnerType = `r-${randomUUID()}`;
    const [one, other] = [await fan(3, { runnerType }), await fan(3, { runnerType })];
    expect(await limit(runnerType, { max: 2 })).toMatchObject({
      status: 200,
      body: { kind: 'runnerType', held: 0 },
    });
    await upload(database, one, 'input');
    await upload(database, other, 'input');
    expect(await claimed(one.template, 1)).toHaveLength(1);
    const [task] = await claimed(other.template, 3);
    expect(await claimed(one.template, 1)).toEqual([]);
    const waiting = stage.runner().claim(one.template, 30);
    await eventually('a claim waits', () => waiters.count === 1 && waiters.idleCount === 1);
    await task!.runner.end(task!.taskId, 'release', {});
    expect((await waiting).status).toBe(200);
  });

  test('counts runs that were queued before their node template moved to another runner type', async () => {
    const [from, to] = [`r-${randomUUID()}`, `r-${randomUUID()}`];
    const [graph, other] = [await fan(4, { runnerType: from }), await fan(2, { runnerType: to })];
    await upload(database, graph, 'input');
    await upload(database, other, 'input');
    await limit(graph.template, { max: 2 });
    // As a manifest does.
    await database.query('update node_template set runner_type = $2 where name = $1', [graph.template, to]);
    await templates.load(0);
    expect(await claimed(graph.template, 4)).toHaveLength(2);
    expect(await limit(to, { max: 3 })).toMatchObject({ body: { kind: 'runnerType', held: 2 } });
    expect(await claimed(other.template, 2)).toHaveLength(1);
  });

  test('for each session and project leaves places to the others', async () => {
    const first = await fan(4);
    const second = await fan(4, { template: first.template });
    await limit(first.template, { max: null, perSession: 1 });
    await upload(database, first, 'input');
    await upload(database, second, 'input');
    const sessions = (await claimed(first.template, 4)).map(({ sessionId }) => sessionId);
    expect(sessions.sort()).toEqual([first.sessionId, second.sessionId].sort());

    await limit(first.template, { max: null, perProject: 3 });
    // One task of the first graph's project is held.
    const more = (await claimed(first.template, 6)).map(({ sessionId }) => sessionId);
    expect(more.filter((id) => id === first.sessionId).length).toBeLessThanOrEqual(2);
    const [row] = await database.query<{ most: number }>(
      `select max(n) as most from (
         select count(*) as n from node_run r join session s on s.id = r.session_id
          where r.template_name = $1 and r.state = 'held' group by s.project_id) x`,
      [first.template],
    );
    expect(row!.most).toBe(3);
  });

  test('leaves its places to others behind a project with a long queue that has none', async () => {
    const full = await fan(1);
    await limit(full.template, { max: null, perProject: 2, perSession: 1 });
    await upload(database, full, 'input');
    await copySession(database, full, 10_100);
    const [first, second] = [
      await fan(2, { template: full.template }),
      await fan(1, { template: full.template }),
    ];
    const { projectId } = first;
    await database.query('update session set project_id = $2 where id = $1', [second.sessionId, projectId]);
    await upload(database, first, 'input');
    await upload(database, second, 'input');
    const tasks = await claimed(full.template, 6);
    expect(tasks.map((task) => task.projectId)).toEqual([
      full.projectId,
      full.projectId,
      projectId,
      projectId,
    ]);
  });

  test('that is lowered lets what is held finish, and one that is raised is used at once', async () => {
    const graph = await fan(6);
    await upload(database, graph, 'input');
    const tasks = await claimed(graph.template, 2);
    expect(await limit(graph.template, { max: 1 })).toMatchObject({ body: { max: 1, held: 2 } });
    expect(await claimed(graph.template, 1)).toEqual([]);
    await tasks[0]!.runner.end(tasks[0]!.taskId, 'release', {});
    expect(await claimed(graph.template, 1)).toEqual([]);
    const waiting = stage.runner().claim(graph.template, 30);
    await eventually('a claim waits', () => waiters.count === 1 && waiters.idleCount === 1);
    await limit(graph.template, { max: 2 });
    expect((await waiting).status).toBe(200);
    expect(await limit(graph.template, { max: 0 })).toMatchObject({ body: { max: 0 } });
    expect(await claimed(graph.template, 1)).toEqual([]);
  });

  test('is what a waiting node and its queue say', async () => {
    const graph = await fan(2);
    await limit(graph.template, { max: 1 });
    await upload(database, graph, 'input');
    const [held] = await claimed(graph.template, 1);
    const [waits] = ['n0', 'n1']
      .map((name) => graph.nodes[name]!)
      .filter((id) => id !== held!.nodeInstanceId);
    const token = people.Developer.token;
    const { body } = await ask(api.url, 'GET', `/api/v2/node-instance/${waits}/explain`, { token });
    expect(body).toMatchObject({
      why: 'concurrency-limit',
      facts: { fullLimits: [{ kind: 'nodeTemplate', name: graph.template, scope: 'all', max: 1, held: 1 }] },
    });
    expect(body.sentence).toContain(`at most 1 task of node template ${graph.template} is held at once`);
    const { body: queues } = await ask(api.url, 'GET', '/api/v2/admin/queues', { token });
    expect(
      queues.queues.find((queue: { nodeTemplate: string }) => queue.nodeTemplate === graph.template).limits,
    ).toEqual([{ kind: 'nodeTemplate', max: 1, perProject: null, perSession: null, held: 1 }]);
  });

  test('comes with the manifest, and an operator may choose another and go back', async () => {
    const name = `c-${randomUUID()}`;
    const manifest = (max: number | undefined) => ({
      manifestVersion: 1,
      feature: { name, version: '1.0.0', ownershipType: 'ThirdParty' },
      runnerTypes: [{ name, runtime: 'external' }],
      nodeTemplates: [
        {
          name,
          runnerType: name,
          type: 'Transform',
          configurationSchema: {},
          ...(max === undefined ? {} : { concurrency: { max, perSession: 1 } }),
        },
      ],
    });
    const token = people.Developer.token;
    const publish = (json: object) => ask(api.url, 'POST', '/api/v2/admin/runner-manifests', { token, json });
    const mine = async () => {
      const { body } = await ask(api.url, 'GET', path, { token });
      return body.limits.filter((item: { name: string }) => item.name === name);
    };
    expect(await publish(manifest(5))).toMatchObject({ status: 200, body: { warnings: [] } });
    const declared = { max: 5, perProject: null, perSession: 1 };
    expect(await mine()).toMatchObject([{ kind: 'nodeTemplate', ...declared, declared, chosen: null }]);

    expect(await limit(name, { max: 9 })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching('kind') },
    });
    const chosen = { max: null, perProject: null, perSession: null };
    expect(await limit(name, { kind: 'nodeTemplate', max: null })).toMatchObject({
      status: 200,
      body: { max: null, perSession: null, declared, chosen },
    });
    // A new version of the manifest leaves the operator's choice.
    await publish(manifest(6));
    expect(await mine()).toMatchObject([{ max: null, declared: { max: 6 }, chosen }]);
    const back = await ask(api.url, 'DELETE', `${path}/${name}?kind=nodeTemplate`, { token });
    expect(back.status).toBe(204);
    expect(await mine()).toMatchObject([{ max: 6, perSession: 1, chosen: null }]);
    await publish(manifest(undefined));
    expect(await mine()).toEqual([]);
  });

  test.each([
    [{ max: 1.5 }, 400],
    [{ max: -1 }, 400],
    [{}, 400],
    [{ max: 1, perSession: 'x' }, 400],
  ])('of %j is refused, and changes nothing', async (json, status) => {
    const graph = await fan(1);
    expect(await limit(graph.template, json)).toMatchObject({ status });
    const { body } = await ask(api.url, 'GET', path, { token: people.Developer.token });
    expect(body.limits.map(({ name }: { name: string }) => name)).not.toContain(graph.template);
  });

  test('of what is unknown or built in is refused', async () => {
    expect(await limit('no-such-name', { max: 1 })).toMatchObject({ status: 404 });
    expect(await limit('system', { max: 1 })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching('no runner runs') },
    });
  });

  test('is answered as it was set while others take it away', async () => {
    const { template } = await fan(1);
    const set = Array.from({ length: 20 }, (_, at) => untilServed(() => limit(template, { max: at + 1 })));
    const token = people.Administrator.token;
    const away = set.map(() => untilServed(() => ask(api.url, 'DELETE', `${path}/${template}`, { token })));
    const answers = (await Promise.all(set)).map(({ status, body }) => [status, body.max]);
    expect(answers).toEqual(set.map((_, at) => [200, at + 1]));
    expect((await Promise.all(away)).map(({ status }) => status)).toEqual(set.map(() => 204));
  });

  test('in a manifest is checked with its path', async () => {
    const name = `c-${randomUUID()}`;
    const json = {
      manifestVersion: 1,
      feature: { name, version: '1.0.0', ownershipType: 'ThirdParty' },
      runnerTypes: [{ name, runtime: 'external', concurrency: { max: 0 } }],
    };
    const token = people.Developer.token;
    const answer = await ask(api.url, 'POST', '/api/v2/admin/runner-manifests', { token, json });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ path: '$.runnerTypes[0].concurrency.max' }] },
    });
  });
});
