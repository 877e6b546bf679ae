import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { runnerStage } from '../support/runner.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { commandLine } from './support.ts';

const { runSdp } = commandLine();
const { api, people } = await runnerStage();
await ship(api.composed.services.database);

const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
const json = async (...args: string[]) => JSON.parse((await sdp([...args, '--json'])).out);

test('a session adopts what its template says by now, and another template', async () => {
  const names = ['old', 'other'].map((name) => `${name} ${randomUUID()}`);
  const input = inputNode('in');
  const file = (name: string, nodes: readonly object[]) => JSON.stringify(templateFile(name, nodes));
  const { id } = JSON.parse(
    (await sdp(['templates', 'import', '-', '--json'], {}, file(names[0]!, [input]))).out,
  );
  await sdp(['templates', 'import', '-'], {}, file(names[1]!, [input, tabularNode('table', 'in')]));
  const project = await json('projects', 'create', `Course ${randomUUID()}`);
  const { body: session } = await ask(api.url, 'POST', '/session', {
    token: people.adminToken,
    json: { ProjectId: project.id, SessionTemplateId: id },
  });
  const adopt = (...options: string[]) => sdp(['sessions', 'adopt-template', session.id, ...options]);
  expect((await adopt()).out).toBe(`The session is as ${names[0]} says: nothing changes.\n`);
  const other = ['--template', names[1]!];
  expect((await adopt(...other, '--dry-run')).out).toMatch(
    /table +added[\s\S]*The session would adopt other/,
  );
  expect((await adopt(...other)).out).toContain(`The session has adopted ${names[1]}.`);
  const [, table] = (await json('sessions', 'show', session.id)).nodeInstances;
  await sdp(['config', 'set', String(table.id), 'inputFormat=json']);
  const replaced =
    'Configurations that people changed in this session were replaced: table. Their revisions remain.';
  expect((await adopt()).out).toContain(`\n${replaced}\nThe session has adopted`);
  const missing = await adopt('--template', 'nowhere');
  expect([missing.code, missing.err]).toEqual([
    2,
    'There is no session template nowhere: see `sdp templates list`.\n',
  ]);
  expect((await sdp(['sessions', 'show', session.id])).out).toMatch(/^Template +other/m);
});
