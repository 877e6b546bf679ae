import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { runnerStage } from '../../support/runner.ts';
import { allRows, bucketContents, taskUploads } from '../../support/task-uploads.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;
const { port, hostname } = new URL(api.url);

const graph = await stage.chainOf(1, { incremental: true, leaseSeconds: 3_600 });
await stage.upload(graph, 'input', 'x');
const runner = stage.runner();
const { taskId } = await runner.acquire(graph.template);
const uploads = taskUploads(api.url, people.Developer.token, runner.instanceId);
const handle = await uploads.begin(taskId);
await uploads.put(taskId, handle, 1, 'part');

/** One request whose header values are sent byte for byte, which clients of HTTP would not do. */
async function raw(
  method: string,
  path: string,
  headers: readonly (readonly [string, string])[] = [],
): Promise<[number, string | undefined]> {
  const own = headers.some(([name]) => name === 'x-platform-runner-instance')
    ? []
    : [['x-platform-runner-instance', runner.instanceId] as const];
  const lines = [
    ['host', 'x'] as const,
    ['connection', 'close'] as const,
    ['authorization', `Bearer ${people.Developer.token}`] as const,
    ...own,
    ...headers,
    ...(method === 'GET' ? [] : [['content-length', '5'] as const]),
  ].map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  socket.write(
    `${method} /api/v2/runner${path} HTTP/1.1\r\n${lines.join('')}\r\n${method === 'GET' ? '' : 'bytes'}`,
    'latin1',
  );
  let answer = '';
  for await (const chunk of socket) answer += (chunk as Buffer).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return [status, body === '' ? undefined : JSON.parse(body).code];
}

const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const writes: readonly [string, string][] = [
  ['POST', `/tasks/${taskId}/outputs`],
  ['POST', `/tasks/${taskId}/outputs/uploads`],
];
const complete: [string, string] = ['POST', `/tasks/${taskId}/outputs/uploads/${handle}/complete`];
const taskCalls: readonly [string, string][] = [
  ...writes,
  complete,
  ['PUT', `/tasks/${taskId}/outputs/uploads/${handle}/parts/1`],
  ['DELETE', `/tasks/${taskId}/outputs/uploads/${handle}`],
  ['GET', `/tasks/${taskId}/state`],
  ['GET', `/tasks/${taskId}/inputs`],
];
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** Header, hostile values, the calls that read it, and their expected answer. */
const table: [string, readonly string[], readonly (readonly [string, string])[], number, string][] = [
  [
    'x-platform-runner-instance',
    ['a b', 'a\tb', 'a/b', 'a;b', 'a,b', '*', '%61', '<a>', "'--", utf8('é'), '\xff', 'x'.repeat(129)],
    taskCalls,
    400,
    'invalid_request',
  ],
  ['x-platform-runner-instance', ['', ' ', '\t'], taskCalls, 400, 'instance_header_missing'],
  [
    'x-platform-runner-instance',
    ['__proto__', 'constructor', '.', 'x'.repeat(128)],
    taskCalls,
    404,
    'task_not_found',
  ],
  [
    'x-platform-output-identifier',
    [
      '',
      ' ',
      'a b',
      'a/b',
      '../x',
      '%2e',
      'a\\b',
      'a:b',
      "a'--",
      'a\tb',
      utf8('é'),
      utf8('１'),
      '\xff',
      'x'.repeat(101),
    ],
    writes,
    400,
    'invalid_output_identifier',
  ],
  [
    'x-platform-output-metadata',
    [
      ...[
        '',
        '[]',
        'null',
        '1',
        '"a"',
        '{',
        '{}x',
        '{a:1}',
        "{'a':1}",
        '{"a":1,}',
        '{"a":1,"a":2}',
        '{"$a":1}',
      ],
      ...['{"a":NaN}', '{"a":01}', '{"a":"\\u0000"}', '{"a":"\\ud800"}', '{"a":"\xff"}'],
      ...[nested(21), nested(700), `{"a":"${'x'.repeat(4089)}"}`],
    ],
    writes,
    400,
    'invalid_output_metadata',
  ],
  [
    'x-platform-watermark',
    [
      '',
      'abc',
      '0',
      '-1',
      '+1',
      '1.5',
      '1e3',
      '0x1',
      '01',
      '1 2',
      '1;2',
      'null',
      utf8('１'),
      '9007199254740992',
    ],
    [...writes, complete],
    400,
    'invalid_request',
  ],
  ['x-platform-watermark', ['9007199254740991'], [writes[0]!, complete], 409, 'watermark_unknown_input'],
  [
    'content-encoding',
    ['br', 'gzip, gzip', 'deflate', 'identity, gzip', '\xff'],
    writes,
    415,
    'unsupported_media_type',
  ],
  [
    'content-md5',
    ['', 'x', '*', 'AAAA', 'AAAAAAAAAAAAAAAAAAAAAA==', '\xff'],
    [writes[0]!, taskCalls[3]!],
    400,
    'invalid_request',
  ],
  [
    'x-amz-checksum-sha256',
    ['', 'x', 'AAAA', `${'A'.repeat(43)}=`],
    [writes[0]!, taskCalls[3]!],
    400,
    'invalid_request',
  ],
];

test('hostile header values get the documented refusal, and change nothing but the lease', async () => {
  const facts = async () => ({
    rows: (await allRows(database)).replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^,]*/g, ''),
    ...(await bucketContents(platform)),
  });
  const before = await facts();
  const differing: unknown[] = [];
  for (const [name, values, calls, status, code] of table) {
    for (const value of values) {
      for (const [method, path] of calls) {
        const answer = await raw(method, path, [[name, value]]);
        if (answer[0] !== status || answer[1] !== code)
          differing.push([method, path, name, value, ...answer]);
      }
    }
  }
  expect(differing).toEqual([]);
  expect(await facts()).toEqual(before);
});

test('a header that is sent twice is one value with both', async () => {
  const twice = (name: string, value: string) =>
    raw('POST', `/tasks/${taskId}/outputs`, [
      [name, value],
      [name, value],
    ]);
  expect(await twice('x-platform-runner-instance', runner.instanceId)).toEqual([400, 'invalid_request']);
  expect(await twice('x-platform-output-identifier', 'a')).toEqual([400, 'invalid_output_identifier']);
  expect(await twice('x-platform-output-metadata', '{}')).toEqual([400, 'invalid_output_metadata']);
  expect(await twice('x-platform-watermark', '1')).toEqual([400, 'invalid_request']);
});

test('values at the limit are accepted', async () => {
  const write = (headers: Record<string, string>) => runner.write(taskId, 'x', headers);
  for (const identifier of ['a', '.', '..', '-', '_', 'x'.repeat(100), '__proto__', 'A.b_c-9']) {
    const answer = await write({ 'x-platform-output-identifier': identifier });
    expect([answer.status, answer.body.outputIdentifier]).toEqual([201, identifier]);
  }
  const texts = [
    '{}',
    ' {"a":1} ',
    '{"__proto__":{"x":1},"constructor":1}',
    nested(20),
    `{"a":"${'x'.repeat(4088)}"}`,
    utf8(`{"a":"${'é'.repeat(2_044)}"}`),
  ];
  for (const metadata of texts) {
    const answer = await write({ 'x-platform-output-metadata': metadata });
    const [row] = await database.query<{ same: boolean }>(
      'select metadata = $2::jsonb as same from node_output where id = $1',
      [answer.body.outputId, Buffer.from(metadata, 'latin1').toString('utf8')],
    );
    expect([answer.status, row?.same, metadata.slice(0, 40)]).toEqual([201, true, metadata.slice(0, 40)]);
  }
});

test('any other task id is 404 task_not_found, in every call', async () => {
  const ids = [
    '0',
    'abc',
    randomUUID(),
    `${taskId}x`,
    taskId.slice(1),
    `{${taskId}}`,
    '%00',
    '..',
    "'--",
    'null',
  ];
  const differing: unknown[] = [];
  for (const id of ids) {
    for (const [method, path] of taskCalls) {
      // Many clients resolve `..` themselves; this one does not.
      const answer = await raw(method, path.replace(taskId, encodeURI(id)));
      if (answer[0] !== 404 || answer[1] !== 'task_not_found') differing.push([method, path, id, ...answer]);
    }
  }
  expect(differing).toEqual([]);
  expect((await raw('GET', `/tasks/${taskId.toUpperCase()}/state`))[0]).toBe(200);
});
