/** A deployed runner in the stack of docker-compose.yml: its program in the folder, a node that it works on, its result. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordingClient } from '../activities/recording-session.ts';
import { eventually } from '../support/eventually.ts';
import { inputNode, templateFile } from '../support/templates.ts';

const name = 'telling';
const file = 'telling.ts';

/** Says who it is and with what it was started. */
const program = `
import { defineRunner, type Task } from '@simulation-data-platform/runner';
export default defineRunner({
  templates: [],
  async run(task: Task) {
    for await (const input of task.inputs('latest')) {
      const text: string = await input.text();
      const variables = Object.keys(process.env).sort();
      await task.writeJson({ text, uid: process.getuid!(), folder: process.cwd(), url: process.env.SDP_URL, variables });
    }
  },
});`;

export interface Seen {
  readonly text: string;
  readonly uid: number;
  readonly folder: string;
  readonly url: string;
  readonly variables: readonly string[];
}

export interface DeployedNode {
  /** Uploads to the node above, and returns the runner's output. */
  work(text: string): Promise<Seen>;
  /** Its processes, as the platform shows them. */
  processes(): Promise<ReadonlyArray<{ readonly state: string; readonly starts: number }>>;
}

/** As an operator fills the folder: readable for the users of containers, writable only for its owner. */
export function fillRunnersFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o755 });
  writeFileSync(join(folder, file), program, { mode: 0o644 });
}

/** Publishes the runner's manifest, and makes a session with a node of it. */
export async function publishDeployed(client: RecordingClient): Promise<DeployedNode> {
  const { warnings } = await client.call('POST', '/api/v2/admin/runner-manifests', {
    manifestVersion: 1,
    feature: { name, version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name, runtime: 'sdk', entrypoint: file }],
    nodeTemplates: [{ name, runnerType: name, type: 'Processing', configurationSchema: { type: 'object' } }],
  });
  if (warnings.length > 0) throw new Error(`The manifest has warnings: ${JSON.stringify(warnings)}`);
  const child = { Name: 'child', NodeTemplateName: name, DefaultConfiguration: {}, Parents: ['input'] };
  const template = templateFile('deployed', [inputNode('input'), child]);
  await client.call('POST', '/api/v2/admin/session-templates', template);
  const session = await client.newSession('deployed');
  const [input, node] = ['input', 'child'].map((wanted) => session.nodes.find((one) => one.name === wanted)!);
  return {
    async work(text) {
      const headers = { authorization: `Bearer ${client.token}`, 'content-type': 'text/plain' };
      const path = `${client.url}/api/v2/node-instance/${input!.id}/outputs/data`;
      const sent = await fetch(path, { method: 'POST', headers, body: text });
      if (sent.status !== 201) throw new Error(`upload: ${sent.status} ${await sent.text()}`);
      const state = async () => {
        const result = `${client.url}/api/v2/node-instance/${node!.id}/outputs/latest/data`;
        const answer = await fetch(result, { headers });
        const seen = answer.ok ? ((await answer.json()) as Seen) : undefined;
        return seen?.text === text && seen;
      };
      return eventually(`the deployed runner has worked on ${text}`, state, 60_000);
    },
    async processes() {
      const { deployed } = await client.call('GET', '/api/v2/admin/runners?pageSize=100');
      return deployed.find((one: { runnerType: string }) => one.runnerType === name)?.processes ?? [];
    },
  };
}
