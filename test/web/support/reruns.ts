/** Two sessions with dashboards and a node of an outside runner, whose second is run again with another version. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { testRunner } from '../../support/runner.ts';
import { inputNode, templateFile } from '../../support/templates.ts';

// biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sends.
type Call = (method: string, path: string, json?: unknown) => Promise<any>;

export interface RerunPair {
  readonly dashboards: number[];
  readonly works: number[];
  /** Ends the run that waits in the node. */
  end(version: string): Promise<void>;
}

export async function rerunPair(url: string, token: string, call: Call): Promise<RerunPair> {
  const name = `trim-${randomUUID().slice(0, 8)}`;
  await call('POST', '/api/v2/admin/runner-manifests', {
    manifestVersion: 1,
    feature: { name, version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name, runtime: 'external' }],
    nodeTemplates: [{ name, runnerType: name, type: 'Processing', configurationSchema: { type: 'object' } }],
  });
  const node = (Name: string, NodeTemplateName: string, parent: string, DefaultConfiguration: object) => ({
    Name,
    NodeTemplateName,
    DefaultConfiguration,
    Parents: [parent],
  });
  const table = node('table', 'system-tabular-to-dataservice', 'in', { inputFormat: 'auto' });
  const dashboard = node('dashboard', 'system-next-dimension', 'table', {
    dashboardName: 'Recording',
    dashboardVersion: 'next',
    layoutFromParentOutput: true,
  });
  const work = node('work', name, 'in', { gate: { width: 3, side: 'left' } });
  const file = templateFile(name, [inputNode('in'), table, dashboard, work]);
  const template = await call('POST', '/api/v2/admin/session-templates', file);
  const project = await call('POST', '/projects', { Title: 'Trim' });
  const end = async (version: string) => {
    const runner = testRunner(url, token, randomUUID());
    const body = { instanceId: runner.instanceId, templates: [name], waitSeconds: 20 };
    const task = await runner.call('POST', '/tasks/claim', body, { 'user-agent': `lap-tools/${version}` });
    await runner.write(task.body.taskId, 'trimmed');
    expect((await runner.end(task.body.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  };
  const pair: RerunPair = { dashboards: [], works: [], end };
  for (const [Name, tyre, csv] of [
    ['Trim soft', 'soft', 'speed [km/h],gear\n1,2\n2,3\n'],
    ['Trim hard', 'hard', 'speed [km/h],wing\n1,2\n2,3\n3,4\n'],
  ] as const) {
    const Metadata = { tyre, car: 44 };
    const made = { ProjectId: project.id, SessionTemplateId: template.id, Name, Metadata };
    const session = await call('POST', '/session', made);
    const [input] = session.nodeInstances;
    pair.works.push(session.nodeInstances[3].id);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' };
    const path = `${url}/api/v2/node-instance/${input.id}/outputs/data`;
    const sent = await fetch(path, {
      method: 'POST',
      headers: { ...headers, 'x-platform-output-identifier': 'trim.csv' },
      body: csv,
    });
    expect(sent.status).toBe(201);
    await end('1.0.0');
    const read = async () => (await call('GET', `/api/v2/sessions/${session.id}`)).dimensions[0];
    pair.dashboards.push((await eventually('the session has its dashboard', read)).id);
  }
  return pair;
}
