/** Outside runners for benchmarks, and the node templates and sessions that they work at. */
import { randomUUID } from 'node:crypto';
import { BenchClient, type BenchPlatform } from './platform.ts';
import type { Template } from './sessions.ts';

export interface Task {
  readonly taskId: string;
  readonly runId: string;
  readonly nodeName: string;
  readonly sessionId: string;
  readonly leaseExpiresAt: string;
}

const runner = '/api/v2/runner';

/** Every benchmark has its own node template, so that no runner claims the tasks of another. */
export async function register(
  client: BenchClient,
  name: string,
  options: { readonly leaseSeconds?: number } = {},
): Promise<void> {
  await client.expect(200, 'POST', '/api/v2/admin/runner-manifests', {
    manifestVersion: 1,
    feature: { name, version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name: `${name}-runner`, runtime: 'external' }],
    nodeTemplates: [
      {
        name,
        runnerType: `${name}-runner`,
        type: 'Processing',
        configurationSchema: { type: 'object' },
        ...options,
      },
    ],
  });
}

/** A client with a runner token for the node template of {@link register}. */
export async function runnerTokenClient(
  { client, ports }: BenchPlatform,
  names: string | readonly string[],
  connections?: number,
): Promise<BenchClient> {
  const { token } = await client.expect<{ token: string }>(201, 'POST', '/api/v2/admin/runner-tokens', {
    runnerTypes: [names].flat().map((name) => `${name}-runner`),
    scopes: ['tasks'],
  });
  return new BenchClient(ports, { authorization: `Bearer ${token}` }, connections);
}

/** A template of `width` chains of `length` nodes below one input. */
export async function importTemplate(
  client: BenchClient,
  name: string,
  width: number,
  length: number,
): Promise<Template> {
  const nodes = [
    {
      Name: 'input',
      NodeTemplateName: 'input-node',
      DefaultConfiguration: { dataSourceName: 'platform' },
      Parents: [] as string[],
    },
  ];
  for (let column = 0; column < width; column++) {
    for (let row = 0; row < length; row++) {
      const parent = row === 0 ? 'input' : `n${column}-${row - 1}`;
      nodes.push({
        Name: `n${column}-${row}`,
        NodeTemplateName: name,
        DefaultConfiguration: {} as never,
        Parents: [parent],
      });
    }
  }
  return client.expect<Template>(201, 'POST', '/api/v2/admin/session-templates', {
    TemplateVersion: '1.0.0',
    Name: `${name}-${width}x${length}-${randomUUID()}`,
    Description: '',
    Configuration: {},
    Nodes: nodes,
  });
}

export function upload(client: BenchClient, inputId: number): Promise<unknown> {
  return client.expect(
    201,
    'POST',
    `/api/v2/node-instance/${inputId}/outputs/data`,
    Buffer.from('a,b\n1,2\n'),
  );
}

/** One instance of an outside runner. */
export class Runner {
  private readonly client: BenchClient;
  private readonly template: string;
  readonly instanceId = randomUUID();

  constructor(client: BenchClient, template: string) {
    this.client = client;
    this.template = template;
  }

  async claim(waitSeconds: number): Promise<Task | undefined> {
    const answer = await this.client.call<Task>('POST', `${runner}/tasks/claim`, {
      instanceId: this.instanceId,
      templates: [this.template],
      waitSeconds,
    });
    if (answer.status === 204) return undefined;
    if (answer.status !== 200) throw new Error(`claim: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  writeOutput(task: Task, output = 'x\n1\n'): Promise<unknown> {
    return this.client.expect(
      201,
      'POST',
      `${runner}/tasks/${task.taskId}/outputs`,
      Buffer.from(output),
      this.header,
    );
  }

  complete(task: Task, outcome: 'completed' | 'no-output'): Promise<unknown> {
    return this.client.expect(
      200,
      'PUT',
      `${runner}/tasks/${task.taskId}/complete`,
      { outcome },
      this.header,
    );
  }

  /** Completes the task without an output and claims the next one with the same call. */
  async completeAndClaim(task: Task): Promise<Task | undefined> {
    const body = { outcome: 'no-output', next: { waitSeconds: 0, templates: [this.template] } };
    const path = `${runner}/tasks/${task.taskId}/complete`;
    const { next } = await this.client.expect<{ next: Task | null }>(200, 'PUT', path, body, this.header);
    return next ?? undefined;
  }

  /** Renews the lease. */
  heartbeat(task: Task): Promise<{ readonly leaseExpiresAt: string }> {
    return this.client.expect(
      200,
      'PUT',
      `${runner}/tasks/${task.taskId}/heartbeat`,
      { phase: 'working' },
      this.header,
    );
  }

  private get header() {
    return { 'x-platform-runner-instance': this.instanceId };
  }
}

/** Instances that wait for tasks of a node template that has none, each at a connection of its own, until `stop`. */
export async function waitingRunners(platform: BenchPlatform, count: number): Promise<{ stop(): void }> {
  const template = 'waiting-node';
  await register(platform.client, template);
  const client = await runnerTokenClient(platform, template, count);
  let isStopping = false;
  for (let started = 0; started < count; started++) {
    const waiting = new Runner(client, template);
    void (async () => {
      while (!isStopping) await waiting.claim(20);
    })().catch((error) => {
      if (!isStopping) throw error;
    });
  }
  return {
    stop() {
      isStopping = true;
      client.close();
    },
  };
}
