import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionTemplateRoutes } from '../../api/session-templates/routes.ts';
import { apiStage } from '../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { commandLine } from './support.ts';

const { folder, runSdp } = commandLine();
const { api, people } = await apiStage({ routes: sessionTemplateRoutes });
beforeAll(() => ship(api.composed.services.database));

const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.Developer.token, ...environment }, input);

function fileOf(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('sdp templates validate', () => {
  test('says what an import would do, and changes nothing; `check` is the same', async () => {
    const path = fileOf('valid.json', templateFile('only-checked', [inputNode('a')]));
    const found = {
      code: 0,
      err: '',
      out: expect.stringContaining('would create session template only-checked: version 1.'),
    };
    expect(await sdp(['templates', 'validate', path])).toEqual(found);
    expect(await sdp(['templates', 'check', path])).toEqual(found);
    expect((await sdp(['templates', 'list'])).out).not.toContain('only-checked');
  });

  test('lists every fault with its path', async () => {
    const path = fileOf(
      'faults.json',
      templateFile('faults', [{ ...inputNode('a'), NodeTemplateName: 'nowhere' }]),
    );
    const { code, out, err } = await sdp(['templates', 'validate', path]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain("$.Nodes[0].NodeTemplateName: Node template 'nowhere' is not registered.");
  });
});

describe('sdp templates import', () => {
  test('creates a template from a file or standard input, and updates it on request', async () => {
    const content = templateFile('from-a-file', [inputNode('a')]);
    const path = fileOf('one.json', `\ufeff${JSON.stringify(content)}`);
    const made = await sdp(['templates', 'import', path]);
    expect(made).toEqual({
      code: 0,
      err: '',
      out: expect.stringMatching(/^Created session template \d+ \(from-a-file\): version 1\.\n$/),
    });
    const again = await sdp(['templates', 'import', path]);
    expect(again).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^A session template with the same name already exists\. \(409, request [\w.-]+\)\n$/,
      ),
    });
    const updated = await sdp(['templates', 'import', '--update-if-exists', path]);
    expect([updated.code, updated.out]).toEqual([0, made.out.replace('Created', 'Unchanged:')]);
    const piped = JSON.stringify(templateFile('from-a-pipe', [inputNode('a')]));
    expect((await sdp(['templates', 'import', '-'], {}, piped)).out).toContain('(from-a-pipe)');
    const list = await sdp(['templates', 'list']);
    for (const name of ['system-tabular-dashboard-autodetect-next', 'from-a-file', 'from-a-pipe'])
      expect(list.out).toContain(name);
  });

  test('lists every fault with its path', async () => {
    const nodes = [inputNode('a'), { ...tabularNode('t', 'x'), NodeTemplateName: 'nowhere' }];
    const { code, out, err } = await sdp([
      'templates',
      'import',
      fileOf('wrong.json', templateFile('wrong', nodes)),
    ]);
    expect([code, out]).toEqual([1, '']);
    expect(err.split('\n')).toEqual([
      expect.stringMatching(/^The template definition is not valid\. \(400, request [\w.-]+\)$/),
      "  $.Nodes[1].NodeTemplateName: Node template 'nowhere' is not registered.",
      "  $.Nodes[1].Parents[0]: No node is named 'x'.",
      '',
    ]);
  });

  test.each([
    ['a file that is not there', () => ['/nowhere.json'], {}, 'File not found: /nowhere.json.'],
    [
      'a file that is no JSON',
      () => [fileOf('broken.json', '{')],
      {},
      "broken.json is not valid JSON: line 1, column 2: Expected property name or '}'.",
    ],
    [
      'no token',
      () => [fileOf('x.json', {})],
      { SDP_TOKEN: '' },
      'Not signed in. Sign in with `sdp login`, or set SDP_TOKEN.',
    ],
    [
      'a token that is not valid',
      () => [fileOf('x.json', {})],
      { SDP_TOKEN: 'x' },
      'A valid bearer token is required. (401, request ',
    ],
    [
      'a token that was cut out of a text with its quotes',
      () => [fileOf('x.json', {})],
      { SDP_TOKEN: '\u201chat_x\u201d' },
      'SDP_TOKEN has characters that no token has.',
    ],
    [
      'a platform that does not answer',
      () => [fileOf('x.json', {})],
      { SDP_URL: 'http://127.0.0.1:1' },
      'http://127.0.0.1:1 does not answer.',
    ],
    ['no platform', () => [fileOf('x.json', {})], { SDP_URL: '' }, 'No running platform found.'],
  ] as const)('reports %s', async (_, args, environment, message) => {
    const { code, out, err } = await sdp(['templates', 'import', ...args()], environment);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });

  test('is refused for roles that may not import', async () => {
    const path = fileOf('roles.json', templateFile('roles', [inputNode('a')]));
    const { code, err } = await sdp(['templates', 'import', path], { SDP_TOKEN: people.Trainee.token });
    expect([code, err.replace(/, request .*\)/, ')')]).toEqual([
      1,
      'The role of this account does not allow this operation. (403)\n',
    ]);
  });
});

describe('the versions of a template', () => {
  test('are listed and shown, and say what they changed; a shown one makes the next', async () => {
    const nodes = [inputNode('in'), tabularNode('out', 'in')];
    const file = (extra: object) => fileOf('laps.json', templateFile('laps', nodes, extra));
    await sdp(['templates', 'import', file({})]);
    expect((await sdp(['templates', 'diff', 'laps'])).out).toMatch(/^laps: version 1 is the first\.\n/);
    await sdp(['templates', 'import', '--update-if-exists', file({ Description: 'Anew' })]);
    expect((await sdp(['templates', 'versions', 'laps'])).out).toMatch(
      /^VERSION +LABEL +NODES +CREATED +BY\n2 +1 +2 +\S+ \S+ +\S.*\n1 +1 +2 /,
    );
    expect((await sdp(['templates', 'show', 'laps'])).out).toMatch(
      /^Template +laps \(\d+\)\nDescription +Anew\n\nNODE +NODE TEMPLATE +TYPE +PARENTS[^\n]+\nin +input-node +Input +- /,
    );
    const diff = await sdp(['templates', 'diff', 'laps', '--from', '1', '--to', '2']);
    expect(diff.out).toMatch(
      /^laps: version 2, since version 1\.\n\nWHAT[^\n]+\ndescription +template +"laps of the tests" +"Anew"\n$/,
    );
    const first = await sdp(['templates', 'show', 'laps', '--at', '1']);
    expect(JSON.parse(first.out)).toMatchObject({ Name: 'laps', Description: 'laps of the tests' });
    const again = await sdp(['templates', 'import', '--update-if-exists', '-'], {}, first.out);
    expect(again.out).toMatch(/^Updated session template \d+ \(laps\): version 3\.\n$/);
    const newest = await sdp(['templates', 'show', 'laps', '--definition', '--json']);
    expect(JSON.parse(newest.out)).toEqual(JSON.parse(first.out));
    const since = ['--from-template', 'laps', '--json'];
    const shipped = 'system-tabular-dashboard-autodetect-next';
    const { nodes: found } = JSON.parse((await sdp(['templates', 'diff', shipped, ...since])).out);
    expect(found[0]).toMatchObject({ node: 'in', kind: 'removed' });
    expect((await sdp(['templates', 'show', 'laps', '--at', '9'])).err).toContain('version not found. (404');
  });
});
