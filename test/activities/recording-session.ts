/** Sessions of the shipped template over HTTP, and the values in their files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { metadataHeader } from '../../client/metadata-header.ts';
import { ask, startTestApi, tokenOf } from '../support/api.ts';
import { eventually, patienceMs } from '../support/eventually.ts';
import { type TestEnvironment, testEnvironment } from '../support/stack.ts';
import { inputNode, tabularNode, templateFile } from '../support/templates.ts';
import { testWorkflows } from '../support/workflows.ts';

const shippedTemplateName = 'system-tabular-dashboard-autodetect-next';
const dataFolder = join(import.meta.dirname, '../../node_modules/vega-datasets/data');

/** A real file of vega-datasets. */
export function realFile(name: string): Buffer {
  return readFileSync(join(dataFolder, name));
}

export interface NodeView {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly statusDetails: string;
}

export interface SourceView {
  readonly outputId: number;
  readonly name: string;
  readonly rowCount: number;
  readonly time: { readonly kind: string; readonly from: string | null; readonly to: string | null };
  readonly channels: ReadonlyArray<{
    key: string;
    id: string;
    name: string;
    unit: string | null;
    type: string;
  }>;
}

export interface DashboardView {
  readonly id: number;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly layout: { readonly panels: ReadonlyArray<{ channels: string[] }> } | null;
  readonly sources: readonly SourceView[];
}

export interface SeriesView {
  readonly channel: string;
  readonly times: number[];
  readonly values: Array<number | string | boolean | null>;
}

export interface Upload {
  readonly bytes: Buffer | string;
  readonly identifier: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly fileName?: string;
  readonly metadata?: object;
}

/** An API, its workers and a signed-in client for a whole test file. Call it once at the top of the file. */
export async function recordingStage() {
  const platform = await testEnvironment();
  const temporalSide = await testWorkflows(platform.environment);
  const api = await startTestApi(platform.environment);
  afterAll(() => api.stop());
  await temporalSide.startWorker('all');
  const client = await RecordingClient.signIn(api.url, platform.administrator);
  return { platform, temporalSide, api, client };
}

/** Registers the platform's bucket at another address, as `gated`, with a template of that name that reads from it. */
export async function importGated(client: RecordingClient, s3: TestEnvironment['s3'], endpoint: string) {
  const place = { ...s3, endpoint, prefix: '', forcePathStyle: true };
  await client.call('POST', '/api/v2/admin/data-sources', { name: 'gated', kind: 's3', ...place });
  const upload = { ...inputNode('upload'), DefaultConfiguration: { dataSourceName: 'gated' } };
  const file = templateFile('gated', [upload, tabularNode('recording', 'upload')]);
  await client.call('POST', '/api/v2/admin/session-templates', file);
}

/** The platform as one signed-in person uses it. */
export class RecordingClient {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  static async signIn(url: string, person: { username: string; password: string }): Promise<RecordingClient> {
    return new RecordingClient(url, await tokenOf(url, person.username, person.password));
  }

  async call(method: string, path: string, json?: unknown) {
    const answer = await ask(this.url, method, path, { token: this.token, json });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Makes a project and a session of the template. */
  async newSession(templateName = shippedTemplateName): Promise<RecordingSession> {
    const templates: { id: number; name: string }[] = await this.call(
      'GET',
      '/api/v2/session/session_templates',
    );
    const template = templates.find(({ name }) => name === templateName);
    if (!template) throw new Error(`There is no template ${templateName}.`);
    const project = await this.call('POST', '/projects', { Title: 'Recordings' });
    const body = { Name: 'A session', ProjectId: project.id, SessionTemplateId: template.id };
    const session = await this.call('POST', '/session', body);
    return new RecordingSession(this, session.id, session.nodeInstances);
  }
}

export class RecordingSession {
  readonly id: string;
  readonly nodes: readonly NodeView[];
  #client: RecordingClient;

  constructor(client: RecordingClient, id: string, nodes: readonly NodeView[]) {
    this.#client = client;
    this.id = id;
    this.nodes = nodes;
  }

  /** Continues at another address after a restart of the platform. */
  movedTo(client: RecordingClient): void {
    this.#client = client;
  }

  nodeId(index: number): number {
    return this.nodes[index]!.id;
  }

  /** Uploads to the first node, as a person does. */
  async upload(file: Upload): Promise<{ status: number; outputId: number }> {
    const response = await fetch(`${this.#client.url}/api/v2/node-instance/${this.nodeId(0)}/outputs/data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#client.token}`,
        'content-type': file.contentType ?? 'text/csv',
        'x-platform-output-identifier': file.identifier,
        ...(file.contentEncoding === undefined ? {} : { 'content-encoding': file.contentEncoding }),
        'x-platform-output-metadata': metadataHeader(
          JSON.stringify({ fileName: file.fileName, ...file.metadata }),
        ),
      },
      body: typeof file.bytes === 'string' ? file.bytes : new Uint8Array(file.bytes),
    });
    const body = (await response.json()) as { id: number };
    if (response.status >= 300) throw new Error(`upload: ${response.status} ${JSON.stringify(body)}`);
    return { status: response.status, outputId: body.id };
  }

  async progress(): Promise<readonly NodeView[]> {
    return (await this.#client.call('GET', `/api/v2/session/${this.id}/node-instances`)).nodeInstances;
  }

  /** States by node, once no node waits or works: a fact makes its followers `Pending` in its own transaction. */
  async settled(limitMs = patienceMs): Promise<readonly NodeView[]> {
    let last: readonly NodeView[] = [];
    try {
      return await eventually(
        'the graph ends',
        async () => {
          last = await this.progress();
          return last.every(({ state }) => !['Pending', 'Processing', 'NeverBegan'].includes(state)) && last;
        },
        limitMs,
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${JSON.stringify(last)}`);
    }
  }

  /** The warnings in the log of a node's newest run. */
  warnings(index: number): Promise<string[]> {
    return this.log(index, 'warning');
  }

  /** What the log of a node's newest run says, from a level up. */
  async log(index: number, level: 'info' | 'warning'): Promise<string[]> {
    const runs = '/api/v2/node-runs';
    const { nodeRuns } = await this.#client.call('GET', `${runs}?nodeInstanceId=${this.nodeId(index)}`);
    const { entries } = await this.#client.call('GET', `${runs}/${nodeRuns[0].id}/logs?level=${level}`);
    return entries.map(({ message }: { message: string }) => message);
  }

  async dashboard(): Promise<DashboardView> {
    const { dimensions } = await this.#client.call('GET', `/api/v2/sessions/${this.id}`);
    if (dimensions.length !== 1) throw new Error(`${dimensions.length} dashboards`);
    return this.#client.call('GET', `/api/v2/dashboard/dimensions/${dimensions[0].id}`);
  }

  async scenarios(): Promise<{ scenarioName: string; from: string | null; to: string | null }[]> {
    return (await this.#client.call('GET', `/api/v2/sessions/${this.id}`)).scenarios;
  }

  /** The points of channels of a source, by channel id. */
  async series(
    dashboard: DashboardView,
    source: SourceView,
    ids: readonly string[],
    query: { from?: string; to?: string } = {},
  ): Promise<SeriesView[]> {
    const keys = ids.map((id) => channelOf(source, id).key);
    const asked = new URLSearchParams({ channels: keys.join(','), maxPoints: '10000', ...query });
    return (await this.#client.call('GET', `/api/v2/dashboard/dimensions/${dashboard.id}/series?${asked}`))
      .series;
  }
}

export function channelOf(source: SourceView, id: string) {
  const channel = source.channels.find((one) => one.id === id);
  if (!channel) throw new Error(`No channel ${id} among ${source.channels.map((one) => one.id)}.`);
  return channel;
}

/** Rows of a table without quotes, by heading. */
export function rowsOf(text: string, delimiter: string): Record<string, string>[] {
  const [head = '', ...lines] = text.trim().split(/\r?\n/);
  const names = head.split(delimiter);
  return lines.map((line) => {
    const cells = line.split(delimiter);
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
}

export const table = (...values: number[]) =>
  `time [s],speed [m/s]\n${values.map((value, second) => `${second},${value}`).join('\n')}\n`;
