/** A platform with a folder of deployed runners, and hosts for them as separate processes. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import { type Answer, ask, startTestApi, type TestApi, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type TestProcess, type TestProcesses, testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

interface DeployedSession {
  readonly input: number;
  readonly node: number;
  readonly sessionId: string;
}

interface Shown {
  readonly runnerType: string;
  readonly entrypoint: string | null;
  readonly processes: readonly {
    readonly number: number;
    readonly state: string;
    readonly message: string;
    readonly starts: number;
    readonly tokenId: string | null;
  }[];
}

export interface HostStage {
  readonly api: TestApi;
  /** The environment of the API. */
  readonly environment: Readonly<Record<string, string>>;
  readonly administrator: { readonly username: string; readonly password: string };
  /** A connection of the test's own. */
  readonly database: Database;
  /** The folder of the modules; its sibling folders are removed with it. */
  readonly folder: string;
  /** With the variables of a host alone. */
  readonly processes: TestProcesses;
  /** Writes a module of the folder. */
  write(name: string, source: string): void;
  /** Starts a host; resolves when it runs. */
  startHost(variables?: Readonly<Record<string, string>>): Promise<TestProcess>;
  /** Publishes a feature with one runner type and one node template, all of the same name. */
  publish(name: string, runnerType: object, version?: string): Promise<Answer>;
  /** A session with a node of that template below its input. */
  sessionOf(name: string): Promise<DeployedSession>;
  /** Uploads to the session. */
  send(session: DeployedSession, text: string): Promise<void>;
  /** Uploads to the session and returns what its node then writes, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a runner writes.
  work(session: DeployedSession, text: string): Promise<any>;
  /** The processes of a runner type in the list of runners. */
  shown(runnerType: string): Promise<Shown | undefined>;
  /** The first process of a runner type. */
  process1(runnerType: string): Promise<Shown['processes'][number] | undefined>;
  /** @param starts how often it was started by then; what hosts report comes a little late */
  untilRuns(runnerType: string, starts?: number): Promise<Shown['processes'][number]>;
  call(method: string, path: string, json?: unknown): Promise<Answer>;
}

/** A module with a runner that reports its identity and its environment. */
export const reportingModule = `
import { defineRunner } from '@simulation-data-platform/runner';
export default defineRunner({
  templates: [],
  async run(task) {
    for await (const input of task.inputs('latest')) {
      const text = await input.text();
      await task.writeJson({ text, pid: process.pid, names: Object.keys(process.env).sort(), flags: process.execArgv });
    }
  },
});`;

/** Call it at the top of a test file; everything ends after the file's last test. */
export async function hostStage(): Promise<HostStage> {
  const around = mkdtempSync(join(tmpdir(), 'sdp-deployed-'));
  // Where the tests run as root, runners are another user, who has to get there.
  chmodSync(around, 0o755);
  afterAll(() => rmSync(around, { recursive: true, force: true }));
  const folder = join(around, 'runners');
  mkdirSync(folder);
  const platform = await testEnvironment();
  const environment = { ...platform.environment, SDK_RUNNERS_DIR: folder };
  const api = await startTestApi(environment);
  const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 3 });
  afterAll(async () => {
    await api.stop();
    await database.close();
  });
  // The whole environment of a host: no address of the database or of Temporal, and no key but its own.
  const processes = testProcesses({ RUNNER_HOST_KEY: platform.environment.RUNNER_HOST_KEY ?? '' });
  const { username, password } = platform.administrator;
  const token = await tokenOf(api.url, username, password);
  await ship(database);
  const call: HostStage['call'] = (method, path, json) => ask(api.url, method, path, { token, json });
  const made: HostStage['call'] = async (method, path, json) => {
    const answer = await call(method, path, json);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const shown: HostStage['shown'] = async (runnerType) => {
    const { body } = await call('GET', '/api/v2/admin/runners?pageSize=100');
    return body.deployed.find((one: Shown) => one.runnerType === runnerType);
  };
  const process1: HostStage['process1'] = async (name) => (await shown(name))?.processes[0];
  const send: HostStage['send'] = async (session, text) => {
    const path = `${api.url}/api/v2/node-instance/${session.input}/outputs/data`;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(path, { method: 'POST', headers, body: text })).status).toBe(201);
  };
  return {
    api,
    environment,
    administrator: platform.administrator,
    database,
    folder,
    processes,
    call,
    shown,
    process1,
    untilRuns: (name, starts) =>
      eventually(`${name} runs`, async () => {
        const one = await process1(name);
        return one?.state === 'running' && one.starts === (starts ?? one.starts) ? one : undefined;
      }),
    write: (name, source) => writeFileSync(join(folder, name), source),
    async startHost(variables = {}) {
      const port = String(new URL(api.url).port);
      const given = { SDK_RUNNERS_DIR: folder, PORT: port, SDK_RUNNERS_GRACE_SECONDS: '1' };
      const host = processes.startScript('worker/runner-host/main.ts', { ...given, ...variables });
      const isAtWork = () => host.log().includes('the host of deployed runners is running');
      await eventually('the host is at work', isAtWork);
      return host;
    },
    publish: (name, runnerType, version = '1.0.0') =>
      call('POST', '/api/v2/admin/runner-manifests', {
        manifestVersion: 1,
        feature: { name, version, ownershipType: 'ThirdParty' },
        runnerTypes: [{ name, runtime: 'sdk', ...runnerType }],
        nodeTemplates: [
          { name, runnerType: name, type: 'Processing', configurationSchema: { type: 'object' } },
        ],
      }),
    async sessionOf(name) {
      const child = { Name: 'child', NodeTemplateName: name, DefaultConfiguration: {}, Parents: ['input'] };
      const file = templateFile(`template-${name}`, [inputNode('input'), child]);
      const template = await made('POST', '/api/v2/admin/session-templates', file);
      const project = await made('POST', '/projects', { Title: name });
      const json = { ProjectId: project.body.id, SessionTemplateId: template.body.id };
      const { body } = await made('POST', '/session', json);
      const progress = await made('GET', `/api/v2/session/${body.id}/node-instances`);
      const idOf = (wanted: string) =>
        progress.body.nodeInstances.find((node: { name: string }) => node.name === wanted).id;
      return { sessionId: body.id, input: idOf('input'), node: idOf('child') };
    },
    send,
    async work(session, text) {
      await send(session, text);
      const worked = async () => {
        const answer = await call('GET', `/api/v2/node-instance/${session.node}/outputs/latest/data`);
        return answer.status === 200 && answer.body.text === text ? answer.body : undefined;
      };
      return await eventually(`the runner has worked on ${text}`, worked);
    },
  };
}

/** Whether a process lives; one that has ended and was not yet collected does not. */
export function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return false;
  }
}
