/** Calls that lead past every failpoint, each repeated until it is answered, and what must hold afterwards. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { publishedOf, queuedGraph } from '../api/node-instances/queued-world.ts';
import { type Answer, ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { inputNode, templateFile } from '../support/templates.ts';
import type { FaultWorld } from './fault-world.ts';
import { type HeldTask, outsideChain } from './http-runner.ts';

export interface FailpointWorld extends FaultWorld {
  /** The address of the API process in which points are armed; it may be down. */
  readonly url: string;
}

const limitMs = 300_000;

type CallOptions = Parameters<typeof ask>[3] & { readonly bytes?: string };

/** Repeats a call until it is answered; an answer of a failing server counts as no answer. */
async function answered(
  { url, client }: FailpointWorld,
  method: string,
  path: string,
  { bytes, ...options }: CallOptions = {},
): Promise<Answer> {
  const until = Date.now() + limitMs;
  for (;;) {
    const once =
      bytes === undefined
        ? ask(url, method, path, { token: client.token, ...options })
        : send(url, method, path, bytes, { authorization: `Bearer ${client.token}`, ...options.headers });
    const answer = await once.catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return answer;
    if (Date.now() > until) throw new Error(`${method} ${path}: ${JSON.stringify(answer?.body)}`);
    await delay(50);
  }
}

async function send(
  url: string,
  method: string,
  path: string,
  body: string,
  headers: Record<string, string>,
) {
  const response = await fetch(url + path, { method, body, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
}

export async function uploads(world: FailpointWorld): Promise<void> {
  const graph = await outsideChain(world.database, 0);
  const nodeId = graph.nodes.input!;
  const text = `a,b\n1,${randomUUID()}\n`;
  const path = `/api/v2/node-instance/${nodeId}/outputs/data`;
  const headers = { 'content-type': 'text/csv', 'x-platform-output-identifier': 'one' };
  for (const _ of ['committed', 'stored'])
    expect([200, 201]).toContain((await answered(world, 'POST', path, { bytes: text, headers })).status);
  const listed = await world.client.call('GET', `/api/v2/node-instance/${nodeId}/outputs`);
  expect(listed).toHaveLength(1);
  expect(await world.client.call('GET', `/api/v2/node-instance/outputs/${listed[0].id}/data`)).toBe(text);
}

/** In two pieces; what was not answered goes on where the platform says. */
export async function resumableUpload(world: FailpointWorld): Promise<void> {
  const graph = await outsideChain(world.database, 0);
  const nodeId = graph.nodes.input!;
  const text = `a,b\n1,${randomUUID()}\n`;
  const tus = { 'tus-resumable': '1.0.0' };
  const begun = await answered(world, 'POST', `/api/v2/node-instance/${nodeId}/uploads`, {
    headers: { ...tus, 'upload-length': String(text.length) },
  });
  const path = begun.headers.get('location')!;
  for (let end = 4; ; end = text.length) {
    const { headers } = await answered(world, 'HEAD', path, { headers: tus });
    if (headers.get('x-platform-upload-state') === 'published') break;
    const offset = Number(headers.get('upload-offset'));
    await answered(world, 'PATCH', path, {
      bytes: text.slice(offset, end),
      headers: { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
    });
  }
  const listed = await world.client.call('GET', `/api/v2/node-instance/${nodeId}/outputs`);
  expect(listed).toHaveLength(1);
  expect(await world.client.call('GET', `/api/v2/node-instance/outputs/${listed[0].id}/data`)).toBe(text);
}

/** @param isPacked uploads continue until the platform has found several that it could pack together */
export async function queuedUploads(world: FailpointWorld, isPacked: () => boolean): Promise<void> {
  const until = Date.now() + limitMs;
  do await queuedAtOnce(world);
  while (!isPacked() && Date.now() < until);
}

async function queuedAtOnce(world: FailpointWorld): Promise<void> {
  const graph = await queuedGraph(world.database, [{ name: 'input', parents: [] }]);
  const nodeId = graph.nodes.input!;
  const names = ['first', 'second', 'third', 'fourth'];
  const path = `/api/v2/node-instance/${nodeId}/outputs/data`;
  await Promise.all(
    names.map(async (name) => {
      const headers = { 'content-type': 'text/plain', 'x-platform-output-identifier': name };
      // A repeat whose first was published meanwhile finds the output.
      expect([200, 202]).toContain((await answered(world, 'POST', path, { bytes: name, headers })).status);
    }),
  );
  await eventually(
    'the queue is drained',
    async () => (await publishedOf(world.database, nodeId)).length === names.length,
    limitMs,
  );
  const published = await publishedOf(world.database, nodeId);
  expect(published.map(({ identifier }) => identifier).sort()).toEqual(names.toSorted());
  for (const { id, identifier } of published)
    expect(await world.client.call('GET', `/api/v2/node-instance/outputs/${id}/data`)).toBe(identifier);
}

/** A template of one input node, and a project. */
async function inputTemplate(world: FailpointWorld): Promise<{ templateId: number; projectId: number }> {
  const template = await world.client.call('POST', '/api/v2/admin/session-templates', {
    ...templateFile(`inputs ${randomUUID()}`, [inputNode('laps')]),
  });
  const project = await world.client.call('POST', '/projects', { Title: 'Failpoints' });
  return { templateId: template.id, projectId: project.id };
}

export async function managedIngest(world: FailpointWorld): Promise<void> {
  const { templateId, projectId } = await inputTemplate(world);
  const urlPath = `failpoint/${randomUUID()}`;
  const ingest = await world.client.call('POST', '/api/v2/admin/ingests', {
    urlPath,
    projectId,
    sessionTemplateId: templateId,
    inputNode: 'laps',
    creationBehaviour: 'LatestSession',
  });
  const headers = {
    'content-type': 'text/plain',
    'x-ingest-secret': ingest.secret,
    'x-platform-output-identifier': 'lap',
  };
  const answer = await answered(world, 'POST', `/ingest/${urlPath}`, { bytes: 'lap', headers });
  expect([200, 201]).toContain(answer.status);
  const sessions = await world.database.query('select 1 from session where project_id = $1', [projectId]);
  expect(sessions).toHaveLength(1);
}

/** A session under an idempotency key; while its lease lasts, repeats of a call that was not answered get 409. */
export async function keyedSession(world: FailpointWorld): Promise<void> {
  const { templateId, projectId } = await inputTemplate(world);
  const headers = { 'idempotency-key': `"${randomUUID()}"` };
  const json = { ProjectId: projectId, SessionTemplateId: templateId, Name: 'keyed' };
  const made = await eventually(
    'the session is made',
    async () => {
      const answer = await answered(world, 'POST', '/session', { json, headers });
      return answer.status === 201 && answer;
    },
    limitMs,
  );
  const sessions = await world.database.query<{ id: string }>(
    'select id from session where project_id = $1',
    [projectId],
  );
  expect(sessions).toEqual([{ id: made.body.id }]);
}

/** A whole task: claim, output, output in parts, watermark, end, and a reprocess with another task. */
export async function task(world: FailpointWorld): Promise<void> {
  const { database } = world;
  const graph = await outsideChain(database, 1, {
    incremental: true,
    maxAttempts: 20,
    // Longer than all processes of the test need to die and to start.
    leaseSeconds: 300,
  });
  const headers = { 'content-type': 'text/csv', 'x-platform-output-identifier': 'input' };
  const path = `/api/v2/node-instance/${graph.nodes.input!}/outputs/data`;
  const input = await answered(world, 'POST', path, { bytes: 'a\n1\n', headers });
  await finishTask(world, graph.template, input.body.id);
  const reprocess = `/api/v2/node-instance/${graph.nodes.n1!}/reprocess`;
  expect((await answered(world, 'POST', reprocess)).status).toBe(202);
  // Requested twice, because an answer was lost, it is done twice.
  const isOpen = () =>
    database.query(`select 1 from node_run where session_id = $1 and state <> 'done'`, [graph.sessionId]);
  while ((await isOpen()).length > 0) await finishTask(world, graph.template, input.body.id);
  const outputs = await database.query<{ identifier: string; count: number }>(
    `select output_identifier as identifier, count(*) as count from node_output
      where node_instance_id = $1 and position is not null group by 1 having count(*) > 1`,
    [graph.nodes.n1],
  );
  expect(outputs).toEqual([]);
}

async function finishTask(world: FailpointWorld, template: string, inputId: number): Promise<void> {
  const instanceId = `runner-${randomUUID()}`;
  const own = { 'x-platform-runner-instance': instanceId };
  const held = await eventually(
    'a task',
    async () => {
      const json = { instanceId, templates: [template], waitSeconds: 1 };
      const answer = await answered(world, 'POST', '/api/v2/runner/tasks/claim', { json });
      return answer.status === 200 && (answer.body as HeldTask);
    },
    limitMs,
  );
  const base = `/api/v2/runner/tasks/${held.taskId}`;
  const good = async (method: string, path: string, options: CallOptions) => {
    const answer = await answered(world, method, base + path, {
      ...options,
      headers: { ...own, ...options.headers },
    });
    expect([200, 201], `${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    return answer.body;
  };
  const named = (name: string) => ({
    'content-type': 'text/plain',
    'x-platform-output-identifier': `${held.runId}.${name}`,
  });
  await good('POST', '/outputs', { bytes: 'small', headers: named('small') });
  const started = await good('POST', '/outputs/uploads', { headers: named('large') });
  await good('PUT', `/outputs/uploads/${started.handle}/parts/1`, { bytes: 'large' });
  const whole = await good('POST', `/outputs/uploads/${started.handle}/complete`, {});
  expect(whole.sha256 ?? createHash('sha256').update('large').digest('hex')).toBeTypeOf('string');
  await good('PUT', '/watermark', { json: { inputId } });
  await good('PUT', '/complete', { json: { outcome: 'completed' } });
}

/** Joined, closed ahead of time, and ended when the time has come. */
export async function exercise(world: FailpointWorld): Promise<void> {
  const { templateId, projectId } = await inputTemplate(world);
  const join = () =>
    answered(world, 'POST', `/api/v2/session/shared_session?projectId=${projectId}`, {
      json: {
        name: 'Exercise',
        simulationName: 'sim',
        email: 'machine-1@example.org',
        sessionTemplateId: templateId,
        startTimeUtc: new Date().toISOString(),
        machineGroup: 1,
      },
    });
  const [first, second] = [await join(), await join()];
  expect(second.body.id).toBe(first.body.id);
  // A future time at each repeat.
  const soon = {
    get closeAt() {
      return new Date(Date.now() + 1_500).toISOString();
    },
  };
  const close = () => answered(world, 'POST', `/api/v2/session/${first.body.id}/close`, { json: soon });
  const closed = await close();
  expect(closed.status).toBe(200);
  expect((await close()).body).toEqual(closed.body);
  await eventually(
    'the close falls due',
    async () => {
      const [row] = await world.database.query<{ endedAt: Date | null }>(
        'select close_ended_at as ended_at from session where id = $1',
        [first.body.id],
      );
      return row?.endedAt;
    },
    limitMs,
  );
}

/** A session with an output is deleted, and its object with it. */
export async function deletion(world: FailpointWorld, sweep: () => Promise<void>): Promise<void> {
  const { database, client } = world;
  const graph = await outsideChain(database, 0);
  const headers = { 'content-type': 'text/csv', 'x-platform-output-identifier': 'one' };
  const path = `/api/v2/node-instance/${graph.nodes.input!}/outputs/data`;
  await answered(world, 'POST', path, { bytes: 'gone', headers });
  const answer = await answered(world, 'DELETE', `/api/v2/sessions/${graph.sessionId}`);
  expect([204, 404]).toContain(answer.status);
  const left = await ask(client.url, 'GET', `/api/v2/sessions/${graph.sessionId}`, { token: client.token });
  expect(left.status).toBe(404);
  await eventually(
    'the object is deleted',
    async () => {
      // What failed once is due again later.
      await database.query(
        'update object_deletion set requested_at = least(requested_at, clock_timestamp())',
      );
      await sweep();
      return (await database.query('select 1 from object_deletion')).length === 0;
    },
    limitMs,
  );
}
