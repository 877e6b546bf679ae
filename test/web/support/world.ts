/** A running platform with content on every page of the console. */
import { randomUUID } from 'node:crypto';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunnerStage } from '../../support/runner.ts';
import type { TestWorkflows } from '../../support/workflows.ts';

export interface World {
  readonly projectId: number;
  readonly templateId: number;
  /** A closed-in exercise of three machines: its session, and its dashboard with a recording of each. */
  readonly sharedId: string;
  readonly dashboardId: number;
  readonly inputNode: number;
  readonly recordingNode: number;
  /** A session whose node failed, and the node. */
  readonly failedId: string;
}

const template = 'system-tabular-dashboard-autodetect-next';
export const machines = ['simulator-1', 'simulator-2', 'simulator-3'] as const;
/** The window of the shared exercise begins then. */
const exerciseStart = '2026-03-14T09:30:00.000Z';

/** Speed, altitude and gear of a machine, a row a second for five minutes. */
export function recording(machine: number): string {
  const rows = Array.from({ length: 300 }, (_row, second) => {
    const time = new Date(Date.parse(exerciseStart) + (second + machine * 20) * 1000).toISOString();
    const speed = 80 + machine * 10 + 30 * Math.sin(second / 30 + machine);
    const altitude = 500 + second * (1 + machine / 4);
    return `${time},${speed.toFixed(3)},${altitude.toFixed(1)},${1 + (second % 5)}`;
  });
  return `time,speed [km/h],altitude [m],gear\n${rows.join('\n')}\n`;
}

/** Everything through the interface, as people and machines do it. */
export async function makeWorld(stage: RunnerStage, workflows: TestWorkflows): Promise<World> {
  const { api, people } = stage;
  // It ships the templates too.
  await workflows.startWorker('all');
  const call = async (method: string, path: string, json?: unknown, token = people.adminToken) => {
    const answer = await ask(api.url, method, path, { token, ...(json === undefined ? {} : { json }) });
    if (answer.status > 299)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const templates = await call('GET', '/api/v2/session/session_templates');
  const templateId = templates.find(({ name }: { name: string }) => name === template).id as number;
  const project = await call('POST', '/projects', {
    Title: 'Formation training',
    Description: 'Crews of several machines fly one exercise together.',
    DefaultSessionTemplateId: templateId,
    RetentionDays: 365,
  });
  await call('POST', '/projects', {
    Title: 'Vehicle-dynamics acceptance measurements of the northern proving ground, second campaign',
    QueuedIngestion: true,
  });
  const session = async (Name: string, Metadata: object) =>
    (await call('POST', '/session', { Name, ProjectId: project.id, SessionTemplateId: templateId, Metadata }))
      .id as string;
  await Promise.all(
    Array.from({ length: 26 }, (_, index) =>
      session(`Circuit ${index + 1}`, {
        vehicle: { speed: (index + 1) * 5 },
        tags: index % 2 ? ['day'] : ['night'],
      }),
    ),
  );
  const failedId = await session('Broken upload', { vehicle: { speed: 7 } });
  const failedInput = await nodeOf(stage, failedId, 0);
  const [shared] = await Promise.all([
    makeShared(stage, project.id, templateId),
    makeFailed(stage, failedId, failedInput.id),
    administer(call, templateId, project.id, failedInput.name).then(() => recordProcesses(stage)),
  ]);
  return { projectId: project.id, templateId, failedId, ...shared };
}

async function makeFailed(stage: RunnerStage, sessionId: string, inputId: number): Promise<void> {
  const broken = 'time,speed\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,2,3,4\n';
  await upload(stage, inputId, 'broken.csv', broken);
  await eventually('the broken recording has failed', async () =>
    (await nodesOf(stage, sessionId)).some(({ state }) => state === 'Failed'),
  );
}

async function makeShared(stage: RunnerStage, projectId: number, templateId: number) {
  const { api, people } = stage;
  const join = async (name: string, machine: number, startTimeUtc: string) => {
    const person = [people.Trainee, people.Instructor, people.Developer][machine]!;
    const answer = await ask(api.url, 'POST', `/api/v2/session/shared_session?projectId=${projectId}`, {
      token: person.token,
      json: {
        name,
        simulationName: 'Approach in crosswind',
        email: person.email,
        sessionTemplateId: templateId,
        startTimeUtc,
        machineGroup: 7,
        timeWindowSeconds: 300,
      },
    });
    return answer.body.id as string;
  };
  const at = (seconds: number) => new Date(Date.parse(exerciseStart) + seconds * 1000).toISOString();
  const sharedId = await join('Formation approach', 0, at(0));
  await join('Formation approach', 1, at(20));
  await join('Formation approach', 2, at(40));
  const closed = await join('Formation take-off', 0, at(-1800));
  await ask(api.url, 'POST', `/api/v2/session/${closed}/close`, {
    token: people.adminToken,
    json: { reason: 'The exercise is over.' },
  });
  const [input, recordingNode] = [await nodeOf(stage, sharedId, 0), await nodeOf(stage, sharedId, 1)];
  for (const [machine, name] of machines.entries())
    await upload(stage, input.id, `${name}.csv`, recording(machine), name);
  const token = people.adminToken;
  const dashboardId = await eventually('the dashboard has the recording of every machine', async () => {
    const session = await ask(api.url, 'GET', `/api/v2/sessions/${sharedId}`, { token });
    const id = session.body.dimensions[0]?.id as number;
    const { body } = await ask(api.url, 'GET', `/api/v2/dashboard/dimensions/${id}`, { token });
    return body.sources.length === machines.length && id;
  });
  return { sharedId, dashboardId, inputNode: input.id, recordingNode: recordingNode.id };
}

/** What operators make. */
async function administer(
  call: (method: string, path: string, json?: unknown) => Promise<unknown>,
  templateId: number,
  projectId: number,
  inputNode: string,
): Promise<void> {
  await call('POST', '/api/v2/admin/runner-manifests', {
    manifestVersion: 1,
    feature: { name: 'lap-tools', version: '1.4.0', ownershipType: 'ThirdParty' },
    runnerTypes: [
      { name: 'lap-tools', runtime: 'external', description: 'Splits recordings into laps.' },
      { name: 'lap-reports', runtime: 'sdk', entrypoint: 'lap-reports.ts' },
    ],
    nodeTemplates: [
      {
        name: 'lap-splitter',
        runnerType: 'lap-tools',
        type: 'Transform',
        description: 'One output a lap.',
        configurationSchema: { type: 'object', properties: { gate: { type: 'number' } } },
      },
    ],
  });
  await call('POST', '/api/v2/admin/ingests', {
    urlPath: 'track-1/laps',
    projectId,
    sessionTemplateId: templateId,
    inputNode,
    dataSource: 'platform',
    creationBehaviour: 'NewSession',
    ingestDataType: 'Csv',
    allowAnonymous: false,
  });
  await call('POST', '/api/v2/admin/runner-tokens', {
    runnerTypes: ['lap-tools'],
    scopes: ['tasks'],
    ttlHours: 24,
    label: 'Laboratory 3',
  });
  await call('POST', '/api/v2/admin/offline-tokens');
  await call('POST', '/api/v2/admin/webhooks', {
    url: 'https://hooks.example.org/platform',
    events: ['session.settled', 'node.failed'],
    projectId,
    enabled: false,
  });
  await call('POST', '/config', {
    name: 'Features:compare',
    valueType: 3,
    value: 'true',
    description: 'Compares.',
  });
}

/** As a host reports its processes: one that is well, one that is not, and one without a report for long. */
async function recordProcesses({ database }: RunnerStage): Promise<void> {
  await database.query(
    `insert into deployed_runner (runner_type, number, host_id, held_until, entrypoint, version, state, message, starts)
     select 'lap-reports', p.number, $1, clock_timestamp() + p.held::interval, 'lap-reports.ts', '1', p.state, p.message, p.starts
       from (values (1, '1 hour', 'running', '', 1),
                    (2, '1 hour', 'waiting', 'Ended with code 1; starts again in 30 seconds.', 4),
                    (3, '-1 hour', 'running', '', 2)) as p (number, held, state, message, starts)`,
    [randomUUID()],
  );
}

async function nodesOf(
  stage: RunnerStage,
  sessionId: string,
): Promise<{ id: number; name: string; state: string; parentIds: number[] }[]> {
  const path = `/api/v2/session/${sessionId}/node-instances`;
  return (await ask(stage.api.url, 'GET', path, { token: stage.people.adminToken })).body.nodeInstances;
}

/** The node at a place of the shipped chain: input, recording, dashboard. */
async function nodeOf(stage: RunnerStage, sessionId: string, place: number) {
  const nodes = await nodesOf(stage, sessionId);
  let node = nodes.find(({ parentIds }) => parentIds.length === 0)!;
  for (let step = 0; step < place; step += 1)
    node = nodes.find(({ parentIds }) => parentIds.includes(node.id))!;
  return node;
}

export async function upload(
  stage: RunnerStage,
  nodeId: number,
  fileName: string,
  bytes: string,
  identifier: string = randomUUID(),
  contentType = 'text/csv',
): Promise<void> {
  const response = await fetch(`${stage.api.url}/api/v2/node-instance/${nodeId}/outputs/data`, {
    method: 'POST',
    body: bytes,
    headers: {
      authorization: `Bearer ${stage.people.adminToken}`,
      'content-type': contentType,
      'x-platform-output-identifier': identifier,
      'x-platform-output-metadata': JSON.stringify({ fileName }),
    },
  });
  if (response.status > 299) throw new Error(`upload: ${response.status} ${await response.text()}`);
}
