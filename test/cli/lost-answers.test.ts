/** Creating commands over a line that loses the platform's answer after the platform has done the work: it is done once. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { folder, runSdp } = commandLine();
const { api, people, database } = await runnerStage();
await ship(database);
await database.query("insert into runner_type (name, runtime) values ('lap-tools', 'external')");
const { projectId, templateId } = await world();

async function world() {
  const made = async (args: readonly string[]) => JSON.parse((await sdp(api.url, [...args, '--json'])).out);
  const template = fileOf(templateFile(`t${randomUUID()}`, [inputNode('laps')]));
  return {
    projectId: (await made(['projects', 'create', 'Lost answers'])).id as number,
    templateId: (await made(['templates', 'import', template])).id as number,
  };
}

function sdp(url: string, args: readonly string[], input = '') {
  return runSdp(args, { SDP_URL: url, SDP_TOKEN: people.adminToken }, input);
}

function fileOf(document: object): string {
  const file = join(folder, `${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(document));
  return file;
}

/** A line on which the first answer to each path is lost when the work is done. */
async function losingLine() {
  const lost: string[] = [];
  const url = await brokenLineTo(api.url, (asked, count) => {
    if (!asked.startsWith('POST ') || count > 1) return undefined;
    lost.push(asked);
    return 'after';
  });
  return { url, lost };
}

const countOf = async (table: string) => {
  const [row] = await database.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return row!.n;
};

const layout = { version: 1, panels: [{ channels: ['speed'] }] };

test.for<[string, string, () => readonly string[], string]>([
  ['POST /projects', 'project', () => ['projects', 'create', `p${randomUUID()}`], ''],
  [
    'POST /session',
    'session',
    () => ['sessions', 'create', '--project', String(projectId), '--template', String(templateId)],
    '',
  ],
  [
    'POST /api/v2/admin/session-templates',
    'session_template',
    () => ['templates', 'import', fileOf(templateFile(`t${randomUUID()}`, [inputNode('laps')]))],
    '',
  ],
  [
    'POST /api/v2/dashboard/report-schedules',
    'report_schedule',
    () => ['reports', 'schedule', 'create', 'session-list', '--every', 'day'],
    '',
  ],
  [
    'POST /api/authorization/users',
    'auth.users',
    () => ['users', 'create', `u${randomUUID().slice(0, 8)}`, '--role', 'Trainee', '--password-stdin'],
    'a sentence of some length',
  ],
  [
    'POST /api/v2/dashboard/layouts',
    'dashboard_layout',
    () => ['layouts', 'put', fileOf({ name: `l${randomUUID()}`, scope: 'mine', layout })],
    '',
  ],
])('the answer to %s is lost: the command makes one and prints it', async ([route, table, args, input]) => {
  const { url, lost } = await losingLine();
  const before = await countOf(table);
  const ended = await sdp(url, args(), input);
  expect(ended, ended.err).toMatchObject({ code: 0, err: '' });
  expect(lost).toContain(route);
  expect((await countOf(table)) - before).toBe(1);
});

test('the answer to a change of template is lost: the command adopts once and prints what it changed', async () => {
  const made = await sdp(api.url, [
    ...['sessions', 'create', '--project', String(projectId)],
    ...['--template', String(templateId), '--json'],
  ]);
  const { id } = JSON.parse(made.out);
  const more = templateFile(`t${randomUUID()}`, [inputNode('laps'), tabularNode('table', 'laps')]);
  const imported = JSON.parse((await sdp(api.url, ['templates', 'import', fileOf(more), '--json'])).out) as {
    id: number;
  };
  const { url, lost } = await losingLine();
  const adopt = ['sessions', 'adopt-template', id, '--template', String(imported.id), '--json'];
  const ended = await sdp(url, adopt);
  expect(ended.code, ended.err).toBe(0);
  expect(lost).toHaveLength(1);
  expect(JSON.parse(ended.out).changes).toMatchObject([{ node: 'table' }]);
});

test.for<[string, string, readonly string[]]>([
  ['POST /api/v2/admin/runner-tokens', 'runner_token', ['tokens', 'runner', 'create', '--type', 'lap-tools']],
  [
    'POST /api/v2/admin/offline-tokens',
    "auth.tokens where kind = 'offline'",
    ['tokens', 'offline', 'create'],
  ],
  [
    'POST /api/v2/admin/webhooks',
    'webhook',
    ['webhooks', 'create', 'https://hooks.example.org/sdp', '--event', 'node.failed'],
  ],
])(
  'the answer to %s is lost with its secret: the command says so and makes no second one',
  async ([route, table, args]) => {
    const { url, lost } = await losingLine();
    const before = await countOf(table);
    const ended = await sdp(url, args);
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('the answer with its secret was lost'),
    });
    expect(lost).toEqual([route]);
    expect((await countOf(table)) - before).toBe(1);
  },
);
