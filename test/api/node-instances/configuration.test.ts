import { beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const before = { dataSourceName: 'platform', depth: { a: [1] } };
const schema = {
  type: 'object',
  properties: { laps: { type: 'integer' }, drivers: { type: 'array', items: { type: 'string' } } },
};
let graph: StageGraph;
beforeAll(async () => {
  graph = await newGraph();
});

async function newGraph() {
  const made = await stage.chainOf(1);
  await database.query('update node_template set configuration_schema = $2 where name = $1', [
    made.template,
    JSON.stringify(schema),
  ]);
  return made;
}

const pathOf = (nodeId: number | string, rest = '') => `/api/v2/node-instance/${nodeId}/configuration${rest}`;
const read = (nodeId: number | string, rest = '', token: string | undefined = people.Instructor.token) =>
  ask(api.url, 'GET', pathOf(nodeId, rest), { ...(token === undefined ? {} : { token }) });
const put = (
  nodeId: number | string,
  json: unknown,
  { token = people.Instructor.token, ifMatch }: { token?: string; ifMatch?: string } = {},
) =>
  ask(api.url, 'PUT', pathOf(nodeId), {
    token,
    json,
    ...(ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } }),
  });
const refused = (message: unknown) => ({ status: 'error', message });

describe('the configuration of a node', () => {
  test('is read and changed with its revision, which is its tag', async () => {
    const { n1 } = (await newGraph()).nodes;
    const first = await read(n1!);
    expect([first.status, first.body]).toEqual([200, { revision: 1, configuration: before }]);
    expect(first.headers.get('etag')).toBe('"1"');
    const configuration = { laps: 3, drivers: ['A'] };
    const changed = await put(n1!, { configuration }, { ifMatch: '"1"' });
    expect([changed.status, changed.body]).toEqual([200, { revision: 2, configuration }]);
    expect(changed.headers.get('etag')).toBe('"2"');
    expect((await read(n1!)).body).toEqual({ revision: 2, configuration });
  });

  test('is changed for the revision of If-Match alone', async () => {
    const { n1 } = (await newGraph()).nodes;
    expect((await put(n1!, { configuration: { laps: 1 } })).status).toBe(200);
    for (const ifMatch of ['"1"', 'W/"2"', '1', '"1", "3"', 'x']) {
      const { status, body } = await put(n1!, { configuration: { laps: 2 } }, { ifMatch });
      expect([ifMatch, status, body]).toEqual([
        ifMatch,
        412,
        refused('Another change came between: the configuration is at revision 2.'),
      ]);
    }
    expect((await read(n1!)).body).toEqual({ revision: 2, configuration: { laps: 1 } });
    expect((await put(n1!, { configuration: { laps: 3 } }, { ifMatch: '"1", "2"' })).body.revision).toBe(3);
    expect((await put(n1!, { configuration: { laps: 4 } }, { ifMatch: '*' })).body.revision).toBe(4);
    expect((await put(n1!, { configuration: { laps: 5 } }, { ifMatch: '4' })).body.revision).toBe(5);
    const writers = [6, 7, 8].map((laps) => put(n1!, { configuration: { laps } }, { ifMatch: '"5"' }));
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412, 412]);
  });

  test('must match the schema of the node template: every fault has its path', async () => {
    const { n1 } = graph.nodes;
    const answer = await put(n1!, { configuration: { laps: '3', drivers: ['A', 7] } });
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        ...refused('The configuration does not match the schema of the node template.'),
        errors: [
          { path: '$.configuration.laps', message: 'Does not match the schema: must be integer.' },
          { path: '$.configuration.drivers[1]', message: 'Does not match the schema: must be string.' },
        ],
      },
    ]);
    for (const json of [{}, { configuration: [] }, { configuration: null }, { configuration: '{}' }, []])
      expect((await put(n1!, json)).status).toBe(400);
    expect((await read(n1!)).body).toEqual({ revision: 1, configuration: before });
    expect((await read(n1!, '/schema')).body).toEqual({ nodeTemplate: graph.template, schema });
  });

  test('lists every revision with who and when', async () => {
    const { n1 } = (await newGraph()).nodes;
    await put(n1!, { configuration: { laps: 1 } });
    await put(n1!, { configuration: { laps: 2 } }, { token: people.Developer.token });
    const { body } = await read(n1!, '/revisions');
    const at = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);
    expect(body).toEqual({
      revisions: [
        {
          revision: 3,
          configuration: { laps: 2 },
          changedBy: people.Developer.userId,
          changedByName: expect.stringMatching(/^Developer /),
          changedAt: at,
        },
        {
          revision: 2,
          configuration: { laps: 1 },
          changedBy: people.Instructor.userId,
          changedByName: expect.stringMatching(/^Instructor /),
          changedAt: at,
        },
        { revision: 1, configuration: before, changedBy: null, changedByName: null, changedAt: at },
      ],
      next: null,
    });
    const page = (await read(n1!, '/revisions?limit=1')).body;
    expect([page.revisions, page.next]).toMatchObject([[{ revision: 3 }], 3]);
    expect((await read(n1!, '/revisions?limit=1&before=3')).body).toMatchObject({ next: 2 });
    expect((await read(n1!, '/revisions?limit=0')).status).toBe(400);
  });

  test('is not changed in a frozen session, and is in a closed one', async () => {
    const { nodes, sessionId } = await newGraph();
    await database.query(
      `update session set closed_at = now(), closed_by = 'anon:x', closed_participants = 1 where id = $1`,
      [sessionId],
    );
    expect((await put(nodes.n1!, { configuration: { laps: 1 } })).status).toBe(200);
    await database.query('update session set frozen_at = now() where id = $1', [sessionId]);
    const { status, body } = await put(nodes.n1!, { configuration: { laps: 2 } });
    expect([status, body]).toEqual([400, refused('Session is frozen.')]);
    expect((await read(nodes.n1!)).body.revision).toBe(2);
  });

  test('of a node that is missing is 404', async () => {
    for (const id of ['999999999', 'abc']) {
      const answers = [read(id), read(id, '/revisions'), read(id, '/schema'), put(id, { configuration: {} })];
      for (const { status, body } of await Promise.all(answers))
        expect([status, body]).toEqual([404, refused('Node instance not found.')]);
    }
  });

  test('is for staff with access tokens; a rerun for those who may reprocess', async () => {
    const { n1 } = (await newGraph()).nodes;
    for (const token of [people.Trainee.token, people.offlineToken]) {
      expect((await put(n1!, { configuration: {} }, { token })).status).toBe(403);
    }
    for (const rest of ['', '/revisions', '/schema']) {
      expect((await read(n1!, rest, people.Trainee.token)).status).toBe(403);
      // An offline token reads what its user may: this one is an Administrator's.
      expect((await read(n1!, rest, people.offlineToken)).status).toBe(200);
    }
    for (const { token } of [people.Administrator, people.Instructor, people.Developer]) {
      expect((await put(n1!, { configuration: {} }, { token })).status).toBe(200);
      for (const rest of ['', '/revisions', '/schema'])
        expect((await read(n1!, rest, token)).status).toBe(200);
    }
    const rerun = { configuration: { laps: 1 }, rerun: true };
    expect((await put(n1!, rerun)).status).toBe(403);
    expect((await read(n1!)).body.configuration).toEqual({});
  });
});

test('a change with a rerun runs a failed node again with it, in lineage and outputs by its revision', async () => {
  const { nodes, template, ...rest } = await newGraph();
  await stage.upload({ nodes, ...rest }, 'input', '1');
  const runner = stage.runner();
  const failed = await runner.acquire(template);
  await runner.end(failed.taskId, 'fail', { category: 'validation', reason: 'No laps.' });
  const { token } = people.Developer;
  const missing = await put(nodes.n1!, { configuration: { laps: 'x' }, rerun: true }, { token });
  expect(missing.status).toBe(400);
  const changed = await put(nodes.n1!, { configuration: { laps: 2 }, rerun: true }, { token });
  expect([changed.status, changed.body]).toEqual([200, { revision: 2, configuration: { laps: 2 } }]);
  const task = await runner.acquire(template);
  expect(task).toMatchObject({ reason: 'reprocess', configuration: { laps: 2 } });
  const { body: written } = await runner.write(task.taskId, 'out');
  await runner.end(task.taskId, 'complete', { outcome: 'completed' });
  const [output] = (await ask(api.url, 'GET', `/api/v2/node-instance/${nodes.n1}/outputs`, { token })).body;
  expect(output).toMatchObject({ configuration: '{"laps":2}', configurationRevision: 2 });
  const lineage = `/api/v2/node-instance/outputs/${written.outputId}/lineage`;
  expect((await ask(api.url, 'GET', lineage, { token })).body).toMatchObject({
    configuration: '{"laps":2}',
    configurationRevision: 2,
  });
  // One entry for the change, with its rerun; none for what was refused.
  const entries = await database.query(
    `select actor_id from audit_entry where action = 'changeNodeConfiguration' and object_id = $1`,
    [String(nodes.n1)],
  );
  expect(entries).toEqual([{ actorId: people.Developer.userId }]);
});

test('a change with a rerun of a node without inputs changes nothing', async () => {
  const { n1 } = (await newGraph()).nodes;
  const { token } = people.Developer;
  const { status, body } = await put(n1!, { configuration: { laps: 1 }, rerun: true }, { token });
  expect([status, body]).toEqual([400, refused('Node has no inputs.')]);
  expect((await read(n1!)).body).toEqual({ revision: 1, configuration: before });
});
