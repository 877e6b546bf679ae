/** What devices and instructors do from a script: sessions by name, nodes, newest outputs, ingests, adopted templates. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { outsideTemplate } from '../support/graph.ts';
import { runnerStage } from '../support/runner.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { folder, runSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
await ship(api.composed.services.database);
const environment = { SDP_URL: api.url, SDP_TOKEN: people.adminToken };
const sdp = (args: readonly string[], more: Record<string, string> = {}, input = '') =>
  runSdp(args, { ...environment, ...more }, input);
const json = async (...args: string[]) => JSON.parse((await sdp([...args, '--json'])).out);
const template = 'system-tabular-dashboard-autodetect-next';

const minuteOf = (ms: number) => {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) (\d+:\d+)/.exec(new Date(ms).toUTCString())!;
  return `${Number(day)} ${month === 'Sep' ? 'Sept' : month} ${year}, ${time}`;
};

test('a session is created by names of project and template; its nodes and newest output are shown', async () => {
  const title = `Course ${randomUUID()}`;
  const project = await json('projects', 'create', title);
  const names = ['--project', title, '--template', template];
  const metadata = ['--metadata', 'car=12', '--metadata', 'driver=A=B'];
  const made = await json('sessions', 'create', ...names, '--name', 'Run 1', ...metadata);
  expect(made).toMatchObject({
    name: 'Run 1',
    project: { id: project.id },
    metadata: { car: 12, driver: 'A=B' },
  });
  const unnamed = await runSdp(['sessions', 'create', ...names, '--json'], {
    ...environment,
    TZ: 'Asia/Kolkata',
  });
  const { id: another, name, createdAt } = JSON.parse(unnamed.out);
  for (const filter of [names, ['--project', String(project.id)]])
    expect((await json('sessions', 'list', ...filter)).sessions).toMatchObject([
      { id: another },
      { id: made.id },
    ]);
  expect(await sdp(['sessions', 'list', '--project', `${title}?`])).toMatchObject({
    code: 2,
    err: `There is no project ${title}?: see \`sdp projects list\`.\n`,
  });
  const withDefault = await json('projects', 'create', `${title}, too`, '--template', template);
  expect(withDefault.defaultSessionTemplate).toMatchObject({ name: template });
  const there = new Date(Date.parse(createdAt) + 5.5 * 3_600_000).toISOString();
  // The clock of the machine, at most a minute before the platform's.
  expect([0, 60_000].map((ms) => minuteOf(Date.parse(there) - ms))).toContain(
    name.slice(`${template}, `.length),
  );
  const shown = await sdp(['sessions', 'show', made.id]);
  const { owner } = await json('sessions', 'show', made.id);
  expect(owner.name).not.toBe(owner.id);
  expect(shown.out).toMatch(new RegExp(`^Owner +${owner.name}$`, 'm'));
  const nodes = await sdp(['nodes', made.id]);
  expect(nodes.out).toMatch(/^NODE +NAME +TEMPLATE[\s\S]+\n\d+ +tabular-upload +input-node +NeverBegan/);
  const [{ id: node }] = await json('nodes', made.id);
  expect((await sdp(['outputs', 'latest', String(node)])).err).toBe(`Node ${node} has no output. (404)\n`);
  for (const text of ['a\n1\n', 'a\n2\n']) {
    const file = join(folder, 'lap.csv');
    writeFileSync(file, text);
    await sdp(['upload', String(node), file]);
  }
  expect((await sdp(['outputs', 'latest', String(node)])).out).toMatch(/^Output +\d+ \(lap\.csv-/);
  const saved = join(folder, 'saved.csv');
  expect((await sdp(['outputs', 'latest', String(node), '--save', saved])).code).toBe(0);
  expect(readFileSync(saved, 'utf8')).toBe('a\n2\n');
  const quiet = await sdp(['outputs', 'latest', String(node), '--save', folder, '--json']);
  expect([JSON.parse(quiet.out).sizeBytes, quiet.err]).toEqual([4, '']);
  expect(
    readFileSync(join(folder, readdirSync(folder).find((name) => name.startsWith('lap.csv-'))!), 'utf8'),
  ).toBe('a\n2\n');
  const nowhere = join(folder, 'missing', 'saved.csv');
  expect((await sdp(['outputs', 'latest', String(node), '--save', nowhere])).err).toBe(
    `Folder not found: ${join(folder, 'missing')}.\n`,
  );
});

test('a Trainee lists their own sessions, page by page, and those of nobody else', async () => {
  const token = { SDP_TOKEN: people.Trainee.token };
  const title = `Own ${randomUUID()}`;
  await json('projects', 'create', title);
  const names = ['--project', title, '--template', template];
  expect((await sdp(['sessions', 'mine'], token)).out).toMatch(/^ID +NAME[^\n]+\n$/);
  const made: string[] = [];
  for (const name of ['First', 'Second']) {
    const { out } = await sdp(['sessions', 'create', ...names, '--name', name, '--json'], token);
    made.push(JSON.parse(out).id);
  }
  await json('sessions', 'create', ...names, '--name', 'Of the administrator');
  const { out } = await sdp(['sessions', 'mine'], token);
  expect(out).toMatch(/^ID +NAME +STATE[^\n]+\n\S+ +Second +notStarted[^\n]+\n\S+ +First [^\n]+\n$/);
  const page = await sdp(['sessions', 'mine', '--page', '2', '--page-size', '1', '--json'], token);
  expect(JSON.parse(page.out)).toMatchObject({ sessions: [{ id: made[0] }], totalCount: 2 });
  expect(await sdp(['sessions', 'list'], token)).toMatchObject({ code: 1 });
});

test('errors are JSON under --json: refusals, wrong names and wrong usage', async () => {
  const errorOf = async (...args: string[]) => {
    const { code, out, err } = await sdp([...args, '--json']);
    return [code, out, JSON.parse(err).error];
  };
  expect(await errorOf('sessions', 'show', randomUUID())).toEqual([
    1,
    '',
    {
      status: 404,
      code: 'not_found',
      message: 'Session not found.',
      requestId: expect.stringMatching(/\S/),
    },
  ]);
  const [, , offline] = await errorOf('sessions', 'list', '--url', 'http://127.0.0.1:9');
  expect(offline).toMatchObject({ status: null, code: 'unreachable' });
  const [, , unreadable] = await errorOf('manifests', 'validate', join(folder, 'absent.json'));
  expect(unreadable).toMatchObject({ status: null, code: 'failed' });
  const usage = { status: null, code: 'usage', requestId: null };
  expect(await errorOf('sessions', 'create', '--project', 'no such', '--template', template)).toEqual([
    2,
    '',
    { ...usage, message: 'There is no project no such: see `sdp projects list`.' },
  ]);
  expect(await errorOf('nodes')).toEqual([
    2,
    '',
    { ...usage, message: "missing required argument 'sessionId'" },
  ]);
});

test('a file is sent to an ingest with its secret, and a repeat makes no second session', async () => {
  const title = `Rig ${randomUUID()}`;
  const { id: ProjectId } = await json('projects', 'create', title);
  const sessionTemplateId = (await json('templates', 'list')).find(
    ({ name }: { name: string }) => name === template,
  ).id;
  const urlPath = `rigs/${randomUUID()}`;
  const body = {
    urlPath,
    projectId: ProjectId,
    sessionTemplateId,
    inputNode: 'tabular-upload',
    dataSource: 'platform',
  };
  const answer = await fetch(`${api.url}/api/v2/admin/ingests`, {
    method: 'POST',
    headers: { authorization: `Bearer ${people.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...body,
      creationBehaviour: 'NewSession',
      ingestDataType: 'Any',
      allowAnonymous: false,
    }),
  });
  const ingest = (await answer.json()) as { secret: string };
  expect(answer.status, JSON.stringify(ingest)).toBe(201);
  const file = join(folder, 'rig.csv');
  writeFileSync(file, 'a\n1\n');
  const send = (SDP_INGEST_SECRET: string) =>
    sdp(['ingest', urlPath, file], { SDP_TOKEN: '', SDP_INGEST_SECRET });
  const sent = await send(ingest.secret);
  expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/^Output \d+ of session \S{36}\.\n$/)]);
  expect((await send(ingest.secret)).out).toBe(sent.out);
  expect(await send('wrong')).toMatchObject({ code: 1, err: expect.stringContaining('(401, request ') });
  // A long one goes in pieces, and on where the line broke.
  writeFileSync(file, randomBytes(18 * 1024 * 1024));
  const url = await brokenLineTo(api.url, (asked, count) =>
    asked.startsWith('PATCH ') && count === 1 ? 'before' : undefined,
  );
  const long = await sdp(['ingest', urlPath, file, '--json'], {
    SDP_TOKEN: '',
    SDP_INGEST_SECRET: ingest.secret,
    SDP_URL: url,
  });
  expect(JSON.parse(long.out)).toMatchObject({
    status: 'ok',
    sessionId: expect.stringMatching(/^\S{36}$/),
    nodeOutputId: expect.any(Number),
  });
});

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

test('sessions are compared by what differs alone: metadata, configuration, files and the runner of a rerun', async () => {
  const name = `compared-${randomUUID()}`;
  await outsideTemplate(stage.database, name);
  const work = { Name: 'work', NodeTemplateName: name, Parents: ['in'] };
  const file = templateFile(name, [
    inputNode('in'),
    { ...work, DefaultConfiguration: { gate: { width: 3 } } },
  ]);
  await sdp(['templates', 'import', '-'], {}, JSON.stringify(file));
  const { id: project } = await json('projects', 'create', name);
  const names = ['--project', String(project), '--template', name];
  const [wet, dry] = await Promise.all(
    ['wet', 'dry'].map((tyre) =>
      json(
        'sessions',
        'create',
        ...names,
        '--name',
        tyre,
        '--metadata',
        `tyre=${tyre}`,
        '--metadata',
        'car=12',
      ),
    ),
  );
  const compare = (...more: string[]) => sdp(['sessions', 'compare', wet.id, dry.id, ...more]);
  expect((await compare()).out).toMatch(
    /^OF +WHAT +wet +dry\nMetadata +tyre +wet +dry\n\nThe same in all: \d+\.\n$/,
  );
  const run = async ({ nodeInstances: [input] }: typeof wet, version: string) => {
    const graph = { sessionId: '', projectId: 0, nodes: { in: input.id }, dataSourceId: 0 };
    await stage.upload(graph, 'in', version, { 'x-platform-output-identifier': 'lap.csv' });
    const runner = stage.runner();
    const body = { instanceId: runner.instanceId, templates: [name], waitSeconds: 20 };
    const claimed = await runner.call('POST', '/tasks/claim', body, { 'user-agent': `lap-tools/${version}` });
    await runner.write(claimed.body.taskId, 'result');
    expect((await runner.end(claimed.body.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  };
  await run(wet, '1.0.0');
  await sdp(['config', 'set', String(dry.nodeInstances[1].id), 'gate.width=4']);
  await run(dry, '1.1.0');
  const { out, err } = await compare();
  expect(err).toBe('');
  expect(out).toMatch(
    /^Node in +Files +lap\.csv, 5 bytes, SHA-256 \w{12} +lap\.csv, 5 bytes, SHA-256 \w{12}$/m,
  );
  expect(out).toMatch(/^Node work +Configuration gate\.width +3 +4$/m);
  expect(out).toMatch(/^Node work +Runner version +lap-tools\/1\.0\.0 +lap-tools\/1\.1\.0$/m);
  expect(JSON.parse((await compare('--json')).out)).toMatchObject({
    sessions: [wet.id, dry.id],
    rows: expect.arrayContaining([
      { of: 'Node work', name: 'Configuration gate.width', values: [3, 4] },
      { of: 'Metadata', name: 'tyre', values: ['wet', 'dry'] },
    ]),
  });
  const token = { SDP_TOKEN: people.Trainee.token };
  expect((await sdp(['sessions', 'compare', wet.id, dry.id], token)).out).toContain(
    'Runner versions are left out',
  );
  expect(await sdp(['sessions', 'compare', wet.id])).toMatchObject({ code: 2 });
  const nowhere = randomUUID();
  expect(await sdp(['sessions', 'compare', wet.id, nowhere])).toMatchObject({
    code: 1,
    err: `There is no session ${nowhere}, or you may not see it.\n`,
  });
});
