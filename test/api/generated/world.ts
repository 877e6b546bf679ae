/**
 * One object of each kind for generated calls, made through the interface itself, and made again after a call
 * deleted it. The users who call are others than those who are changed and deleted.
 */
import { randomUUID } from 'node:crypto';
import { type Role, roles } from '../../../domain/access/access.ts';
import { publishDimension } from '../../../store/dashboards/dimensions.ts';
import type { TestApi } from '../../support/api.ts';
import { type Answer, ask, makePeople, makePerson, type TestPerson } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/stack.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';

export type Caller = {
  readonly name: string;
  readonly token: string | undefined;
  /** As in the access table; undefined for callers that no route admits. */
  readonly who:
    | {
        readonly kind: 'access' | 'offline' | 'runner';
        readonly role: Role;
        readonly mustChangePassword?: boolean;
        readonly scopes?: readonly ('tasks' | 'debug:read')[];
      }
    | undefined;
};

export const outside = { runnerType: 'generated-tools', nodeTemplate: 'generated-step' };
export const instanceId = 'generated-instance';

export class World {
  readonly #api: TestApi;
  readonly platform: TestEnvironment;
  #admin = '';
  callers: Caller[] = [];
  /** Ids by the name of their object. */
  readonly known: Record<string, string | number> = {};
  #holder: TestPerson | undefined;
  #made = 0;

  constructor(api: TestApi, platform: TestEnvironment) {
    this.#api = api;
    this.platform = platform;
  }

  async make(): Promise<void> {
    await ship(this.#api.composed.services.database);
    const { url } = this.#api;
    const people = await makePeople(url, this.platform);
    this.#admin = people.adminToken;
    this.#holder = people.Administrator;
    const pending = await makePerson(url, this.#admin, 'Administrator', {
      forceChangePasswordNextSignin: true,
    });
    await this.#say('POST', '/api/v2/admin/runner-manifests', manifest);
    const runnerToken = (scopes: readonly string[]) =>
      this.#say('POST', '/api/v2/admin/runner-tokens', { runnerTypes: [outside.runnerType], scopes });
    const [tasks, debug] = [await runnerToken(['tasks']), await runnerToken(['debug:read'])];
    const runner = (token: string, scopes: readonly ('tasks' | 'debug:read')[]): Caller => ({
      name: `runner ${scopes}`,
      token,
      who: { kind: 'runner', role: 'Administrator', scopes },
    });
    this.callers = [
      ...roles.map(
        (role): Caller => ({ name: role, token: people[role].token, who: { kind: 'access', role } }),
      ),
      { name: 'offline', token: people.offlineToken, who: { kind: 'offline', role: 'Administrator' } },
      {
        name: 'pending',
        token: pending.token,
        who: { kind: 'access', role: 'Administrator', mustChangePassword: true },
      },
      runner(tasks.body.token, ['tasks']),
      runner(debug.body.token, ['debug:read']),
      { name: 'nobody', token: undefined, who: undefined },
      { name: 'garbage', token: 'hat_garbage', who: undefined },
      { name: 'service', token: this.platform.environment.AUTH_SERVICE_KEY, who: undefined },
    ];
    await this.#makeProject();
    await this.#makeTemplate();
    await this.#makeSession();
    await this.#makeIngest();
    await this.#makeEntry();
    await this.#makeDataSource();
    await this.#makeOfflineToken();
    await this.#makeVictim();
    await this.#acquireTask();
    await this.#makeDashboard();
    await this.#makeStatic();
    await this.#makeRunnerToken();
  }

  /** Repairs what an accepted call of this route did to the objects above. */
  async mend(routeId: string): Promise<void> {
    if (/^(delete|freeze|update|close)Session$|^joinSharedSession$/.test(routeId)) await this.#makeSession();
    else if (/Project$/.test(routeId)) await this.#makeProject();
    else if (/Ingest(Secret)?$/.test(routeId)) await this.#makeIngest();
    else if (/Configuration$/.test(routeId)) await this.#makeEntry();
    else if (/DataSource$/.test(routeId)) await this.#makeDataSource();
    else if (routeId === 'importSessionTemplate') await this.#makeTemplate();
    // A drained runner gets no tasks.
    else if (routeId === 'drainRunner')
      await this.#say('DELETE', `/api/v2/admin/runners/${this.known.runner}/drain`);
    else if (/Static(Instance)?$/.test(routeId)) await this.#makeStatic();
    else if (/RunnerToken$/.test(routeId)) await this.#makeRunnerToken();
    else if (routeId === 'refreshToken') await this.#makeVictim();
    else if (/^revokeOfflineToken/.test(routeId)) await this.#makeOfflineToken();
    else if (/^(updateUser|deleteUser|revokeTokens|changePassword)$/.test(routeId)) await this.#makeVictim();
    else if (/^(complete|fail|release|claim)Task$|TaskUpload$|NodeRuns?$/.test(routeId))
      await this.#acquireTask();
  }

  /** A number that was not used before. */
  next(): number {
    this.#made += 1;
    return this.#made;
  }

  async #say(method: string, path: string, json?: unknown, token = this.#admin): Promise<Answer> {
    const answer = await ask(this.#api.url, method, path, { token, json });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  async #makeProject(): Promise<void> {
    this.known.project = (
      await this.#say('POST', '/projects', { Title: `Generated ${this.next()}` })
    ).body.id;
  }

  async #makeTemplate(): Promise<void> {
    const child = {
      Name: 'generated-child',
      NodeTemplateName: outside.nodeTemplate,
      DefaultConfiguration: { dataSourceName: 'platform' },
      Parents: ['generated-input'],
    };
    const file = templateFile(`Generated ${this.next()}`, [inputNode('generated-input'), child]);
    this.known.template = (await this.#say('POST', '/api/v2/admin/session-templates', file)).body.id;
  }

  async #makeSession(): Promise<void> {
    const { body } = await this.#say('POST', '/session', {
      ProjectId: this.known.project,
      SessionTemplateId: this.known.template,
      Metadata: { vehicle: { speed: this.next() }, tags: ['night'] },
    });
    this.known.session = body.id;
    this.known.node = body.nodeInstances[0].id;
    this.known.child = body.nodeInstances[1].id;
    this.known.output = (await this.#upload()).body.id;
  }

  #upload(): Promise<Answer> {
    const path = `/api/v2/node-instance/${this.known.node}/outputs/data`;
    return this.#say('POST', path, { rows: this.next() });
  }

  async #makeIngest(): Promise<void> {
    const { body } = await this.#say('POST', '/api/v2/admin/ingests', {
      urlPath: `generated/ingest-${this.next()}`,
      projectId: this.known.project,
      sessionTemplateId: this.known.template,
      inputNode: 'generated-input',
    });
    this.known.ingest = body.id;
    this.known.ingestPath = body.urlPath;
    this.known.ingestSecret = body.secret;
  }

  async #makeEntry(): Promise<void> {
    const name = `PublicApi:Generated:${this.next()}`;
    this.known.entry = (await this.#say('POST', '/config', { name, value: 'x' })).body.name;
  }

  async #makeDataSource(): Promise<void> {
    const name = `generated-${this.next()}`;
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = this.platform.s3;
    const json = { name, endpoint, region, bucket, accessKeyId, secretAccessKey };
    this.known.dataSource = (await this.#say('POST', '/api/v2/admin/data-sources', json)).body.name;
  }

  async #makeOfflineToken(): Promise<void> {
    await this.#say('POST', '/api/authorization/offline_token');
    const { body } = await this.#say('GET', '/api/authorization/offline_token');
    const others = body.filter((item: { tokenHint: string; revoked: boolean }) => {
      const own = this.callers.find(({ name }) => name === 'offline')?.token ?? '';
      return !item.revoked && !own.endsWith(item.tokenHint);
    });
    this.known.secret = others.at(-1).secretId;
  }

  async #makeVictim(): Promise<void> {
    const { userId, username, password, email } = await makePerson(this.#api.url, this.#admin, 'Instructor');
    const signIn = { username, password, rememberMe: true };
    const { refreshToken } = (await this.#say('POST', '/api/authorization/token', signIn)).body;
    Object.assign(this.known, { user: userId, username, password, email, refreshToken });
  }

  async #makeStatic(): Promise<void> {
    const { body } = await this.#say('POST', '/api/v2/admin/statics', {
      code: `generated-${this.next()}`,
      title: 'Generated',
      sectionCode: 'generated',
      sectionTitle: 'Generated',
      scopeKind: 0,
    });
    this.known.static = body.code;
  }

  async #makeRunnerToken(): Promise<void> {
    const json = { runnerTypes: [outside.runnerType] };
    this.known.runnerToken = (await this.#say('POST', '/api/v2/admin/runner-tokens', json)).body.id;
    const { runners } = (await this.#say('GET', '/api/v2/admin/runners')).body;
    this.known.runner = runners[0]?.id ?? randomUUID();
  }

  /** A token that may be ended by the call. */
  async spareToken(): Promise<string> {
    return (await makePerson(this.#api.url, this.#admin, 'Trainee')).token;
  }

  /** A task that the Administrator among the callers holds, with an upload begun. */
  async #acquireTask(): Promise<void> {
    await this.#makeSession();
    const { token } = this.#holder!;
    const json = { instanceId, templates: [outside.nodeTemplate], waitSeconds: 5 };
    const claimed = await ask(this.#api.url, 'POST', '/api/v2/runner/tasks/claim', { token, json });
    this.known.task = claimed.body?.taskId ?? randomUUID();
    this.known.run = claimed.body?.runId ?? randomUUID();
    const headers = { 'x-platform-runner-instance': instanceId };
    const task = `/api/v2/runner/tasks/${this.known.task}`;
    const inputs = await ask(this.#api.url, 'GET', `${task}/inputs`, { token, headers });
    this.known.taskInput = inputs.body.inputs?.[0]?.outputId ?? 1;
    const upload = await ask(this.#api.url, 'POST', `${task}/outputs/uploads`, { token, headers });
    this.known.upload = upload.body.handle ?? randomUUID();
  }

  async #makeDashboard(): Promise<void> {
    const holder = { holder: `user:${this.#holder!.userId}`, instanceId };
    const id = await publishDimension(
      this.#api.composed.services.database,
      { ...holder, taskId: String(this.known.task) },
      {
        name: 'Generated',
        dashboardName: 'Generated',
        dashboardVersion: 'next',
        sources: [],
        layout: null,
        suggestsLayout: false,
        scenario: null,
      },
    );
    if (id === undefined) throw new Error('The task is not held.');
    this.known.dimension = id;
  }
}

const manifest = {
  manifestVersion: 1,
  feature: { name: 'generated', version: '1.0.0', ownershipType: 'ThirdParty' },
  runnerTypes: [{ name: outside.runnerType, runtime: 'external' }],
  nodeTemplates: [
    {
      name: outside.nodeTemplate,
      runnerType: outside.runnerType,
      type: 'Processing',
      configurationSchema: { type: 'object' },
      incremental: true,
    },
  ],
};
