/** What operators see of a running platform: its installed processes, a real runner, a real collector. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { defineRunner, startRunner } from '../../sdk/index.ts';
import { registry } from '../../telemetry/registry.ts';
import { ask, makePerson, tokenOf } from '../support/api.ts';
import { databaseStage } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { chain, type Graph, makeGraph, outsideTemplate } from '../support/graph.ts';
import { type ApiProcess, type TestProcess, testProcesses } from '../support/processes.ts';
import { alertRuleTests } from './alert-rules.ts';
import { pathTo, type Span, startCollector } from './collector.ts';
import { metricsIn, scrapeOf } from './exposition.ts';
import { alertRules, dashboardExpressions, readOfCheckout } from './operators-files.ts';
import { ownProcessTests } from './own-process.ts';

const metricsToken = 'a-token-for-the-scraper';
const { database, platform } = await databaseStage(2);
const collector = await startCollector();
const processes = testProcesses({
  ...platform.environment,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '100',
  METRICS_PORT: '0',
  METRICS_TOKEN: metricsToken,
});

let api: ApiProcess;
let workers: readonly TestProcess[];
let adminToken: string;
let graph: Graph;
/** What an upload leaves when a runner and a built-in node have worked on it. */
let trace: readonly Span[];

const rows = Array.from({ length: 40 }, (_row, at) => `${at},${at * 2}`).join('\n');
const csv = `time,speed\n${rows}\n`;
const template = 'telemetry-outside';

beforeAll(async () => {
  const variables = { LOG_LEVEL: 'info' };
  const keepsWholeLog = true;
  [api, ...workers] = await Promise.all([
    processes.startApi({ keepsWholeLog }),
    processes.startWorker('workflows', { variables, keepsWholeLog }),
    processes.startWorker('builtin', { variables, keepsWholeLog }),
  ]);
  const { username, password } = platform.administrator;
  adminToken = await tokenOf(api.url, username, password);
  await outsideTemplate(database, template);
  graph = await makeGraph(database, [
    { name: 'input', parents: [], template: 'input-node' },
    { name: 'copied', parents: ['input'], template },
    { name: 'table', parents: ['copied'], template: 'system-tabular-to-dataservice' },
  ]);
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
    [graph.sessionId],
  );
});

const logOf = (running: TestProcess): Record<string, unknown>[] =>
  running
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function upload(): Promise<number> {
  const path = `/api/v2/node-instance/${graph.nodes.input}/outputs/data`;
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' };
  return (await fetch(api.url + path, { method: 'POST', headers, body: csv })).status;
}

const uploadRoute = '/api/v2/node-instance/{nodeInstanceId}/outputs/data';

describe('one upload through a runner and a built-in node', () => {
  test('waits in the queue that the gauges show', async () => {
    expect(await upload()).toBe(201);
    const seen = await eventually('the queue is reported', async () => {
      const now = await scrapeOf(api);
      return now.value('sdp_queue_tasks', { template }) === 1 ? now : undefined;
    });
    expect(seen.value('sdp_queue_oldest_seconds', { template })).toBeGreaterThan(0);
    // Nobody is there for it yet.
    expect(seen.value('sdp_queue_runners', { template, runner_type: 'outside-runner' })).toBe(0);
    for (const part of ['database', 'storage', 'temporal'])
      expect(seen.value('sdp_part_up', { part })).toBe(1);
    expect(seen.value('sdp_scrape_database_up')).toBe(1);
  });

  test('is one trace, joined up from the upload to the last output, through all processes', async () => {
    const runner = defineRunner({
      templates: [template],
      async run(task) {
        for await (const input of task.inputs('latest'))
          await task.write(await input.text(), { contentType: 'text/csv' });
      },
    });
    const running = await startRunner(runner, {
      url: api.url,
      token: adminToken,
      waitSeconds: 5,
      log: () => undefined,
    });
    try {
      await eventually('the last node has its output', async () => {
        const path = `/api/v2/node-instance/${graph.nodes.table}/outputs`;
        return (await ask(api.url, 'GET', path, { token: adminToken })).status === 200;
      });
    } finally {
      await running.stop();
    }
    const root = await eventually('the upload is traced', () =>
      collector.spans.find(({ name }) => name === `POST ${uploadRoute}`),
    );
    trace = await eventually('the run of the last node is traced', () => {
      const spans = collector.spans.filter(({ traceId }) => traceId === root.traceId);
      return spans.some(({ name }) => name === 'run system-tabular-to-dataservice') ? spans : undefined;
    });
    expect(collector.refused).toEqual([]);
    expect(trace.filter(({ parentSpanId }) => parentSpanId === null)).toEqual([root]);
    const known = new Set(trace.map(({ spanId }) => spanId));
    expect(trace.filter(({ parentSpanId }) => parentSpanId !== null && !known.has(parentSpanId))).toEqual([]);
    const last = trace.findLast(({ name }) => name === 'write output')!;
    expect(pathTo(trace, last)).toEqual([
      `sdp-api: POST ${uploadRoute}`,
      `sdp-api: queued ${template}`,
      'sdp-api: PUT /api/v2/runner/tasks/{taskId}/complete',
      'sdp-worker-builtin: run system-tabular-to-dataservice',
      'sdp-worker-builtin: write output',
    ]);
    const written = trace.find(({ name }) => name === 'POST /api/v2/runner/tasks/{taskId}/outputs')!;
    expect(pathTo(trace, written).slice(0, 2)).toEqual(pathTo(trace, last).slice(0, 2));
    const look = trace.find(({ name }) => name === 'activity advance')!;
    expect(pathTo(trace, look)).toEqual([`sdp-api: POST ${uploadRoute}`, 'sdp-worker: activity advance']);
  });

  test('has only ids in its spans, and no content', () => {
    const byName = (name: string) => trace.find((span) => span.name === name)!.attributes;
    expect(byName(`POST ${uploadRoute}`)).toMatchObject({
      'sdp.sessionId': graph.sessionId,
      'http.response.status_code': 201,
    });
    expect(byName('run system-tabular-to-dataservice')['sdp.sessionId']).toBe(graph.sessionId);
    expect(JSON.stringify(collector.spans)).not.toMatch(/admin|Bearer|hrt_|speed/);
  });

  test('is logged with the ids of request, session, node, task and trace', async () => {
    const { traceId } = trace[0]!;
    const { sessionId } = graph;
    const requestOf = (route: string) =>
      logOf(api).findLast((line) => line.route === route && line.ms !== undefined);
    const text = expect.any(String);
    expect(requestOf('uploadNodeOutput')).toMatchObject({
      ...{ requestId: text, traceId, sessionId, nodeInstanceId: String(graph.nodes.input), status: 201 },
    });
    const task = {
      sessionId,
      nodeInstanceId: graph.nodes.copied,
      taskId: text,
      runId: text,
      requestId: text,
    };
    expect(logOf(api).find((line) => line.route === 'claimTask' && line.status === 200)).toMatchObject(task);
    expect(requestOf('writeTaskOutput')).toMatchObject({ ...task, traceId });
    expect(requestOf('completeTask')).toMatchObject({ ...task, traceId });
    const builtin = await eventually('the built-in run is logged', () =>
      logOf(workers[1]!).find(({ msg }) => msg === 'built-in run'),
    );
    expect(builtin).toMatchObject({
      ...{ sessionId, nodeInstanceId: graph.nodes.table, taskId: text, traceId, outcome: 'completed' },
    });
  });

  test('is counted: bytes, claims, outcomes, requests by route', async () => {
    const [seen, builtin] = await Promise.all([scrapeOf(api), scrapeOf(workers[1]!)]);
    expect(seen.value('sdp_upload_bytes_total', { kind: 'upload' })).toBe(csv.length);
    expect(seen.value('sdp_upload_bytes_total', { kind: 'output' })).toBe(csv.length);
    expect(seen.value('sdp_upload_seconds_count', { kind: 'upload', result: 'stored' })).toBe(1);
    expect(seen.value('sdp_claim_latency_seconds_count', { template })).toBe(1);
    expect(seen.value('sdp_runs_ended_total', { template, outcome: 'completed' })).toBe(1);
    const table = { template: 'system-tabular-to-dataservice' };
    expect(builtin.value('sdp_runs_ended_total', { ...table, outcome: 'completed' })).toBe(1);
    expect(builtin.value('sdp_claim_latency_seconds_count', table)).toBe(1);
    const requests = { method: 'POST', route: uploadRoute, status: '201' };
    expect(seen.value('sdp_http_request_seconds_count', requests)).toBe(1);
    expect(seen.value('sdp_pool_connections_max', { pool: 'platform' })).toBeGreaterThan(0);
    expect(seen.value('sdp_process_info', { process: 'api' })).toBe(1);
  });
});

test('a worker for all queues is both workers in metrics, and logs its start and its stop; an unknown queue ends it with a sentence', async () => {
  const both = await processes.startWorker('all', { variables: { LOG_LEVEL: 'info' } });
  const seen = await scrapeOf(both);
  for (const name of ['worker', 'worker-builtin'])
    expect(seen.value('sdp_process_info', { process: name })).toBe(1);
  both.kill('SIGTERM');
  expect([await both.ended, both.log()]).toEqual([0, expect.stringMatching(/is ready".*"stopping"/s)]);
  const wrong = processes.startScript('worker/main.ts', {}, { args: ['--queue', 'nonsense'] });
  expect(await wrong.ended).toBe(1);
  expect(wrong.log()).toContain('--queue: unknown queue "nonsense"; use workflows, builtin, all.');
});

test('an upload continues the trace of its device, also through the queue of its project', async () => {
  for (const [isQueued, expected] of [
    [false, 201],
    [true, 202],
  ] as const) {
    const own = await makeGraph(database, chain(1, template));
    await database.query('update project set queued_ingestion = $2 where id = $1', [own.projectId, isQueued]);
    await database.query(
      `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
      [own.sessionId],
    );
    const traceId = randomUUID().replaceAll('-', '');
    const path = `/api/v2/node-instance/${own.nodes.input}/outputs/data`;
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const headers = { authorization: `Bearer ${adminToken}`, traceparent };
    const { status } = await fetch(api.url + path, { method: 'POST', headers, body: csv });
    expect(status).toBe(expected);
    const run = await eventually('the run is queued', async () => {
      const found = 'select traceparent from node_run where session_id = $1';
      return (await database.query<{ traceparent: string | null }>(found, [own.sessionId]))[0];
    });
    expect(run.traceparent?.slice(3, 35)).toBe(traceId);
    const span = await eventually('the upload is traced', () =>
      collector.spans.find((one) => one.traceId === traceId && one.name === `POST ${uploadRoute}`),
    );
    expect([span.parentSpanId, run.traceparent?.slice(36, 52)]).toEqual(['b7ad6b7169203331', span.spanId]);
  }
});

describe('the metrics', () => {
  test('of the API are only for the scraper’s token, Administrators and Developers', async () => {
    const trainee = await makePerson(api.url, adminToken, 'Trainee');
    const developer = await makePerson(api.url, adminToken, 'Developer');
    const status = async (token?: string) =>
      (await ask(api.url, 'GET', '/metrics', token === undefined ? {} : { token })).status;
    for (const token of [metricsToken, developer.token]) expect(await status(token)).toBe(200);
    const device = await ask(api.url, 'POST', '/api/authorization/offline_token', { token: adminToken });
    for (const token of [trainee.token, device.body.token as string]) expect(await status(token)).toBe(403);
    for (const token of [undefined, 'garbage', `${metricsToken}.`]) expect(await status(token)).toBe(401);
  });

  test('come as gzip to callers that accept it, and to no others', async () => {
    for (const [accepted, encoding] of Object.entries({ gzip: 'gzip', identity: null })) {
      const headers = { authorization: `Bearer ${metricsToken}`, 'accept-encoding': accepted };
      const answer = await fetch(`${api.url}/metrics`, { headers });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(await answer.text()).toContain('sdp_part_up');
    }
  });

  test('name no session, task, person or path, for any requests', async () => {
    const { sessionId } = graph;
    await ask(api.url, 'GET', `/api/v2/sessions/${sessionId}`, { token: adminToken });
    await ask(api.url, 'GET', `/nowhere/${sessionId}`);
    for (const running of [api, ...workers]) {
      const { samples } = await scrapeOf(running);
      const values = samples.flatMap(({ labels }) => Object.values(labels));
      expect(values.filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}|nowhere|@|admin/.test(value))).toEqual([]);
    }
  });

  test('that dashboard and alert rules name exist in what the processes serve', async () => {
    const scrapes = await Promise.all([api, ...workers].map(scrapeOf));
    const served = new Set(['up', ...scrapes.flatMap(({ names }) => [...names])]);
    const dashboard = dashboardExpressions();
    const rules = alertRules();
    expect(dashboard.length).toBeGreaterThan(20);
    expect(rules.length).toBeGreaterThan(15);
    for (const expression of [...dashboard, ...rules.map(({ expr }) => expr)]) {
      const named = metricsIn(expression);
      expect({ expression, named: named.length > 0 }).toEqual({ expression, named: true });
      expect({ expression, missing: named.filter((name) => !served.has(name)) }).toEqual({
        expression,
        missing: [],
      });
    }
  });

  test('are all described in the reference, with their labels, and no others are', async () => {
    const described = [
      ...readOfCheckout('docs/reference/metrics.md').matchAll(/^\| `(sdp_\w+)` \|([^|]*)\|/gm),
    ].map(
      ([, name, labels]) => `${name} ${[...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort()}`,
    );
    const known = registry
      .getMetricsAsArray()
      .filter(({ name }) => name.startsWith('sdp_'))
      .map(
        (metric) =>
          `${metric.name} ${[...(metric as unknown as { labelNames: string[] }).labelNames].sort()}`,
      );
    expect(described.sort()).toEqual(known.sort());
  });
});

alertRuleTests();
ownProcessTests(database);
