/** Shared by the parts of the scenario: people with planted addresses and passwords, and their tokens. */
import type { Role } from '../../domain/access/access.ts';
import { roles } from '../../domain/access/access.ts';
import { eventually } from '../support/eventually.ts';
import type { TestEnvironment } from '../support/stack.ts';
import type { Canary } from './canaries.ts';
import type { Driver } from './driver.ts';

export interface Somebody {
  readonly userId: string;
  readonly username: string;
  readonly address: Canary;
  readonly password: Canary;
  readonly token: string;
}

export interface Scenario {
  readonly drive: Driver;
  readonly platform: TestEnvironment;
  readonly people: Readonly<Record<Role, Somebody>>;
  readonly offlineToken: string;
  readonly projectId: number;
  /** One input node `in` that names the data source `platform`. */
  readonly templateId: number;
}

export const auth = '/api/authorization';

/** Makes a user by the interface, with an address and a password that are canaries, and signs in. */
export async function newSomebody(
  drive: Driver,
  adminToken: string,
  role: Role,
  name: string,
): Promise<Somebody> {
  const address = drive.book.address(name);
  const password = drive.book.password(name);
  const made = await drive.good('POST', `${auth}/users`, {
    token: adminToken,
    json: { username: name, password: password.value, email: address.value, role, company: 'Acme' },
  });
  const token = await signIn(drive, name, password.value);
  return { userId: made.body.userId, username: name, address, password, token };
}

export async function signIn(drive: Driver, username: string, password: string): Promise<string> {
  const answer = await drive.good('POST', `${auth}/token`, {
    json: { username, password, rememberMe: true },
  });
  return answer.body.accessToken;
}

/** People, a device, a project and a template, which all other steps need. */
export async function openScenario(drive: Driver, platform: TestEnvironment): Promise<Scenario> {
  const { username, password } = platform.administrator;
  drive.book.add({ kind: 'password', name: 'first administrator', value: password, cores: [password] });
  const adminToken = await signIn(drive, username, password);
  const people: Partial<Record<Role, Somebody>> = {};
  for (const role of roles) people[role] = await newSomebody(drive, adminToken, role, `the ${role}`);
  const device = await drive.good('POST', `${auth}/offline_token`, { token: adminToken });
  const { token } = people.Developer as Somebody;
  const json = { Title: 'Flights', Description: 'of the tests' };
  const project = await drive.good('POST', '/projects', { token, json });
  const template = await drive.good('POST', '/api/v2/admin/session-templates', {
    token,
    json: {
      TemplateVersion: '1',
      Name: 'one input',
      Nodes: [
        {
          Name: 'in',
          NodeTemplateName: 'input-node',
          DefaultConfiguration: { dataSourceName: 'platform' },
          Parents: [],
        },
      ],
    },
  });
  return {
    drive,
    platform,
    people: people as Record<Role, Somebody>,
    offlineToken: device.body.token,
    projectId: project.body.id,
    templateId: template.body.id,
  };
}

/** Waits until every node of the session has succeeded or failed. */
export async function settled({ drive, people }: Scenario, sessionId: string): Promise<void> {
  const { token } = people.Developer;
  await eventually(
    'the graph ends',
    async () => {
      const { body } = await drive.good('GET', `/api/v2/session/${sessionId}/node-instances`, { token });
      const states = body.nodeInstances.map(({ state }: { state: string }) => state);
      return states.every((state: string) => state === 'Succeeded' || state === 'Failed');
    },
    25_000,
  );
}

export const csv = 't,speed [m/s]\n0,1\n1,2\n2,4\n';
