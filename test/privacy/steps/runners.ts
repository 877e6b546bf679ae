/** Outside runners: manifests, runner tokens, tasks in all their ends, and what operators do with runs and runners. */

import { randomUUID } from 'node:crypto';
import { runnerHostPaths } from '../../../domain/runners/runner-host.ts';
import { eventually } from '../../support/eventually.ts';
import type { Received, Sent } from '../driver.ts';
import { csv, type Scenario } from '../scenario.ts';

const base = '/api/v2/runner';
const admin = '/api/v2/admin';
const nodeTemplate = 'find-laps';

/** One instance of a runner with a runner token. */
class Runner {
  readonly #scenario: Scenario;
  readonly #token: string;
  readonly instanceId = `runner-${randomUUID()}`;

  constructor(scenario: Scenario, token: string) {
    this.#scenario = scenario;
    this.#token = token;
  }

  call(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const headers = { 'x-platform-runner-instance': this.instanceId, ...sent.headers };
    return this.#scenario.drive.good(method, base + path, { token: this.#token, ...sent, headers });
  }

  /** Claims a task; its path. */
  async claim(): Promise<string> {
    const json = { instanceId: this.instanceId, templates: [nodeTemplate], waitSeconds: 1 };
    const task = await eventually('there is a task', async () => {
      const { status, body } = await this.call('POST', '/tasks/claim', { json });
      return status === 200 && body;
    });
    return `/tasks/${task.taskId}`;
  }
}

/** @param whileHeld runs while a task has been held for some time, so that operators see its holder */
export async function driveRunners(
  scenario: Scenario,
  whileHeld: (sessionId: string) => Promise<void>,
): Promise<void> {
  const { drive, people } = scenario;
  const { token } = people.Developer;
  await publish(scenario);
  const made = await drive.good('POST', `${admin}/runner-tokens`, {
    token,
    json: {
      runnerTypes: ['laps-runner'],
      scopes: ['tasks', 'debug:read'],
      ttlHours: 2,
      label: 'on the desk',
    },
  });
  await drive.good('GET', `${admin}/runner-tokens`, { token });
  const runner = new Runner(scenario, made.body.token);
  await runner.call('GET', '/whoami');
  const { sessionId, nodes } = await newSession(scenario);
  await drivePeek(scenario, runner, nodes.laps);
  await driveTask(scenario, runner, () => whileHeld(sessionId));
  await driveUploadInParts(scenario, runner, nodes);
  await driveOperators(scenario, runner, sessionId, nodes);
  await driveRunnerHost(scenario);
  await drive.good('DELETE', `${admin}/runner-tokens/${made.body.id}`, { token });
  await drive.refused([401], 'GET', `${base}/whoami`, { token: made.body.token });
}

const manifest = {
  manifestVersion: 1,
  feature: { name: 'laps', version: '1.0.0', ownershipType: 'ThirdParty' },
  runnerTypes: [{ name: 'laps-runner', runtime: 'external' }],
  nodeTemplates: [
    {
      name: nodeTemplate,
      runnerType: 'laps-runner',
      type: 'Processing',
      configurationSchema: { type: 'object' },
      incremental: true,
    },
  ],
};

const lapsTemplate = {
  TemplateVersion: '1',
  Name: 'laps',
  Nodes: [
    {
      Name: 'in',
      NodeTemplateName: 'input-node',
      DefaultConfiguration: { dataSourceName: 'platform' },
      Parents: [],
    },
    { Name: 'laps', NodeTemplateName: nodeTemplate, DefaultConfiguration: {}, Parents: ['in'] },
  ],
};

async function publish({ drive, people }: Scenario): Promise<void> {
  const { token } = people.Developer;
  await drive.good('POST', `${base}/manifests/validate`, { token, json: manifest });
  await drive.good('POST', `${admin}/runner-manifests`, { token, json: manifest });
  const limit = `${admin}/concurrency/${nodeTemplate}`;
  await drive.good('PUT', limit, { token, json: { max: 5 } });
  await drive.good('GET', `${admin}/concurrency`, { token });
  await drive.good('DELETE', limit, { token });
  const wrong = { ...manifest, feature: { ...manifest.feature, name: people.Trainee.address.value } };
  await drive.refused([400], 'POST', `${admin}/runner-manifests`, { token, json: wrong });
  for (const path of ['session-templates/validate', 'session-templates'])
    await drive.good('POST', `${admin}/${path}`, { token, json: lapsTemplate });
}

interface Nodes {
  readonly input: number;
  readonly laps: number;
}

async function newSession({
  drive,
  people,
  projectId,
}: Scenario): Promise<{ sessionId: string; nodes: Nodes }> {
  const { token } = people.Developer;
  const templates = await drive.good('GET', '/session_templates', { token });
  const { id } = templates.body.find(({ name }: { name: string }) => name === 'laps');
  const made = await drive.good('POST', '/session', {
    token,
    json: { ProjectId: projectId, SessionTemplateId: id, Email: people.Trainee.address.value },
  });
  const [input, laps] = made.body.nodeInstances;
  const nodes = { input: input.id, laps: laps.id };
  await upload({ drive, people }, nodes);
  return { sessionId: made.body.id, nodes };
}

const upload = ({ drive, people }: Pick<Scenario, 'drive' | 'people'>, nodes: Nodes) =>
  drive.good('POST', `/api/v2/node-instance/${nodes.input}/outputs/data`, {
    token: people.Developer.token,
    bytes: csv,
    headers: { 'content-type': 'text/csv' },
  });

/** What a developer reads before a task is claimed. */
async function drivePeek(_scenario: Scenario, runner: Runner, nodeId: number): Promise<void> {
  const debug = `/debug/nodes/${nodeId}`;
  await runner.call('GET', `${debug}/context`);
  const { body } = await runner.call('GET', `${debug}/inputs`);
  await runner.call('GET', `${debug}/inputs/${body.inputs[0].outputId}/data`);
}

async function driveTask(scenario: Scenario, runner: Runner, whileHeld: () => Promise<void>): Promise<void> {
  const { drive, people } = scenario;
  const task = await runner.claim();
  const heartbeat = {
    phase: 'reading',
    message: 'the first laps',
    progress: { done: 1, total: 3, unit: 'laps' },
  };
  await runner.call('PUT', `${task}/heartbeat`, { json: heartbeat });
  const entry = { at: '2026-03-01T10:04:01.120Z', level: 'info', message: 'begins', fields: { lap: 1 } };
  await runner.call('POST', `${task}/logs`, { json: { sequence: 1, entries: [entry] } });
  const { body } = await runner.call('GET', `${task}/inputs`);
  const { outputId } = body.inputs[0];
  await runner.call('GET', `${task}/inputs/${outputId}/data`);
  await runner.call('GET', `${task}/state`);
  const bytes = 'lap,seconds\n1,61\n';
  const headers = { 'content-type': 'text/csv' };
  await runner.call('POST', `${task}/outputs`, { bytes, headers });
  await runner.call('PUT', `${task}/watermark`, { json: { inputId: outputId, state: { laps: 1 } } });
  await drive.refused([404], 'GET', `${base}${task}/state`, {
    token: people.Developer.token,
    headers: { 'x-platform-runner-instance': runner.instanceId },
  });
  await whileHeld();
  await runner.call('PUT', `${task}/complete`, { json: { outcome: 'completed', statusDetails: 'one lap' } });
}

async function driveUploadInParts(scenario: Scenario, runner: Runner, nodes: Nodes): Promise<void> {
  await upload(scenario, nodes);
  const task = await runner.claim();
  const uploads = `${task}/outputs/uploads`;
  const headers = { 'content-type': 'text/csv' };
  const dropped = await runner.call('POST', uploads, { headers });
  await runner.call('DELETE', `${uploads}/${dropped.body.handle}`);
  const { handle } = (await runner.call('POST', uploads, { headers })).body;
  await runner.call('PUT', `${uploads}/${handle}/parts/1`, { bytes: 'lap,seconds\n2,60\n' });
  await runner.call('POST', `${uploads}/${handle}/complete`);
  const lap = { from: '2026-03-01T10:00:00Z', label: 'Lap 2', tags: ['lap'] };
  await runner.call('POST', `${task}/annotations`, { json: { annotations: [lap] } });
  await runner.call('PUT', `${task}/release`, { json: { reason: 'shutting down' } });
  const again = await runner.claim();
  const { body } = await runner.call('GET', `${again}/inputs`);
  const rejection = { category: 'validation', reason: 'no lap in it' };
  await runner.call('PUT', `${again}/rejections/${body.inputs[0].outputId}`, { json: rejection });
  await runner.call('PUT', `${again}/fail`, { json: { reason: 'no lap found', category: 'validation' } });
}

async function driveOperators(
  { drive, people }: Scenario,
  runner: Runner,
  sessionId: string,
  nodes: Nodes,
): Promise<void> {
  const { token } = people.Developer;
  const runs = await drive.good('GET', `${admin}/node-runs?state=failed`, { token });
  const { id } = runs.body.nodeRuns[0];
  await drive.good('GET', `${admin}/node-runs/${id}`, { token });
  await driveReplay({ drive, people }, id, nodes);
  await drive.good('POST', `${admin}/node-runs/${id}/retry`, { token });
  await drive.good('POST', `${admin}/node-runs/${id}/cancel`, { token });
  await drive.good('POST', `${admin}/sessions/${sessionId}/retry-failed`, { token });
  await drive.good('POST', `${admin}/sessions/${sessionId}/repair`, { token });
  const task = await runner.claim();
  await drive.good('GET', `${admin}/queues`, { token });
  const runners = await drive.good('GET', `${admin}/runners`, { token });
  const own = `${admin}/runners/${runners.body.runners[0].id}/drain`;
  await drive.good('POST', own, { token });
  await drive.good('DELETE', own, { token });
  await runner.call('PUT', `${task}/complete`, { json: { outcome: 'no-output' } });
  await drive.good('GET', `${base}/debug/nodes/${nodes.laps}/context`, { token });
  await runner.call('DELETE', `/instances/${runner.instanceId}`);
}

/** What an engineer reads when a run has failed. */
async function driveReplay(
  { drive, people }: Pick<Scenario, 'drive' | 'people'>,
  runId: string,
  nodes: Nodes,
): Promise<void> {
  const { token } = people.Developer;
  const runs = '/api/v2/node-runs';
  await drive.good('GET', `${runs}?nodeInstanceId=${nodes.laps}`, { token });
  await drive.good('GET', `${runs}/${runId}`, { token });
  await drive.good('GET', `${runs}/${runId}/logs`, { token });
  const { body } = await drive.good('GET', `${runs}/${runId}/replay`, { token });
  await drive.good('GET', `${runs}/${runId}/replay/inputs/${body.inputs[0].outputId}/data`, { token });
  await drive.good('GET', `/api/v2/node-instance/${nodes.laps}/rejected-inputs`, { token });
}

/** Reports of a host of deployed runners, for which nothing is published here. */
async function driveRunnerHost({ drive, platform }: Scenario): Promise<void> {
  const token = platform.environment.RUNNER_HOST_KEY ?? '';
  const hostId = randomUUID();
  const key = { runnerType: 'laps-runner', number: 1 };
  const call = (path: string, json: object) => drive.good('POST', path, { token, json: { hostId, ...json } });
  await call(runnerHostPaths.reconcile, { processesPerType: 1, room: 0, silentSeconds: 10, processes: [] });
  await call(runnerHostPaths.start, { ...key, tokenId: null });
  await call(runnerHostPaths.end, { processes: [{ ...key, isFinal: true }] });
}
