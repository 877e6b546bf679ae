/** A platform with graphs of outside nodes, and runners that speak HTTP to it. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../store/connection/database.ts';
import { type Answer, apiStage, ask, type People, type TestApi } from './api.ts';
import { openDatabase } from './databases.ts';
import { chain, type Graph, makeGraph, outsideTemplate, type TemplateOptions } from './graph.ts';
import type { TestEnvironment } from './stack.ts';

export interface RunnerStage {
  readonly platform: TestEnvironment;
  readonly api: TestApi;
  readonly people: People;
  /** The test's own connection, to set up graphs and to check rows. */
  readonly database: Database;
  /** A session with an input node and `length` outside nodes below it, of its own node template. */
  chainOf(length: number, options?: TemplateOptions): Promise<StageGraph>;
  /** Uploads bytes to a node as a person does. */
  upload(
    graph: Graph,
    node: string,
    bytes: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  runner(options?: {
    readonly token?: string;
    readonly instanceId?: string;
    readonly url?: string;
  }): TestRunner;
}

export interface StageGraph extends Graph {
  readonly template: string;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** One instance of a runner. Paths are below `/api/v2/runner`. */
export interface TestRunner {
  readonly instanceId: string;
  claim(template: string | readonly string[], waitSeconds?: number, signal?: AbortSignal): Promise<Answer>;
  /** Claims and fails the test when there is nothing. */
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sends.
  acquire(template: string, waitSeconds?: number): Promise<any>;
  call(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A call for a task: `complete` is `PUT /tasks/{taskId}/complete`. */
  end(taskId: string, how: 'complete' | 'fail' | 'release', json?: unknown): Promise<Answer>;
  write(taskId: string, bytes: string | Uint8Array, headers?: Record<string, string>): Promise<Answer>;
  read(taskId: string, outputId: number, headers?: Record<string, string>): Promise<RawAnswer>;
}

/** Call it once at the top of a file; everything ends after the file's last test. */
export async function runnerStage(variables: Record<string, string> = {}): Promise<RunnerStage> {
  const { platform, api, people } = await apiStage({ variables });
  const database = await openDatabase(platform, 4);
  return {
    platform,
    api,
    people,
    database,
    async chainOf(length, options = {}) {
      const template = `t-${randomUUID()}`;
      await outsideTemplate(database, template, options);
      const graph = await makeGraph(database, chain(length, template));
      await database.query(
        `update node_instance set configuration = '{"dataSourceName":"platform","depth":{"a":[1]}}' where session_id = $1`,
        [graph.sessionId],
      );
      return { ...graph, template };
    },
    async upload(graph, node, bytes, headers = {}) {
      const answer = await send(
        api.url,
        'POST',
        `/api/v2/node-instance/${graph.nodes[node]}/outputs/data`,
        bytes,
        {
          authorization: `Bearer ${people.Developer.token}`,
          ...headers,
        },
      );
      if (answer.status > 201) throw new Error(`upload: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    },
    runner: (options = {}) =>
      testRunner(
        options.url ?? api.url,
        options.token ?? people.Developer.token,
        options.instanceId ?? randomUUID(),
      ),
  };
}

/** A header value of UTF-8 bytes: fetch sends each character as one byte. */
export function utf8(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

async function send(
  url: string,
  method: string,
  path: string,
  bytes: string | Uint8Array,
  headers: Record<string, string>,
): Promise<Answer> {
  const body = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
  const response = await fetch(url + path, { method, body, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** One instance of a runner that speaks to any API. */
export function testRunner(url: string, token: string, instanceId: string): TestRunner {
  const base = `${url}/api/v2/runner`;
  const own = { authorization: `Bearer ${token}`, 'x-platform-runner-instance': instanceId };
  const call: TestRunner['call'] = (method, path, json, headers = {}) =>
    ask(base, method, path, {
      token,
      json,
      headers: { 'x-platform-runner-instance': instanceId, ...headers },
    });
  const claim: TestRunner['claim'] = async (template, waitSeconds = 0, signal) => {
    const templates = typeof template === 'string' ? [template] : template;
    const response = await fetch(`${base}/tasks/claim`, {
      method: 'POST',
      headers: { authorization: own.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ instanceId, templates, waitSeconds }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
  };
  return {
    instanceId,
    claim,
    async acquire(template, waitSeconds = 0) {
      const answer = await claim(template, waitSeconds);
      if (answer.status !== 200) throw new Error(`claim: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    call,
    end: (taskId, how, json) => call('PUT', `/tasks/${taskId}/${how}`, json),
    write: (taskId, bytes, headers = {}) =>
      send(base, 'POST', `/tasks/${taskId}/outputs`, bytes, { ...own, ...headers }),
    async read(taskId, outputId, headers = {}) {
      const response = await fetch(`${base}/tasks/${taskId}/inputs/${outputId}/data`, {
        headers: { ...own, ...headers },
      });
      return {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      };
    },
  };
}
