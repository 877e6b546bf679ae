import { HeadObjectCommand } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { safeMediaType } from '../../http/headers.ts';
import { ask } from '../support/api.ts';
import { s3Client } from '../support/bucket.ts';
import { runnerStage } from '../support/runner.ts';
import { uploadStage } from './runner/outputs/upload-stage.ts';

const stage = await runnerStage();
const { api, people, platform } = stage;
const parts = uploadStage(stage);
const client = s3Client(platform.environment);
afterAll(() => client.destroy());

const tokenCharacters = [..."!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const token = fc.string({ unit: fc.constantFrom(...tokenCharacters), minLength: 1, maxLength: 12 });
const name = token.filter((text) => !text.startsWith('*'));
const visible = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const quoted = fc
  .array(fc.constantFrom('\t', ...visible), { maxLength: 20 })
  .map((characters) => `"${characters.map((one) => (/["\\]/.test(one) ? `\\${one}` : one)).join('')}"`);
const parameter = fc.tuple(token, fc.oneof(token, quoted)).map(([key, value]) => `${key}=${value}`);
const legalType = fc
  .tuple(name, name, fc.array(parameter, { maxLength: 3 }), fc.constantFrom(';', '; ', ' ; '))
  .map(([type, subtype, parameters, between]) => [`${type}/${subtype}`, ...parameters].join(between))
  .filter((text) => text.length <= 255);

const examples = [
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'message/rfc822',
  "text/csv; note='a%20b'|c~d",
  'text/csv; header="present \\"quoted\\" \\\\ here"; charset=utf-8',
  'text/csv;',
];

describe('a media type', () => {
  test('that is valid does not change', () => {
    fc.assert(fc.property(legalType, (type) => safeMediaType(type) === type));
    for (const type of examples) expect(safeMediaType(type)).toBe(type);
  });

  const illegal = [
    '',
    'text',
    'text/',
    '/csv',
    '*/*',
    'text/*',
    'a b/c',
    'text/csv; a="b',
    'text/csv; a',
    'text/<html>',
  ];
  test.each([...illegal, 'text/csv; a="\u00e9"', `text/${'a'.repeat(251)}`])(
    '%j is sent as bytes',
    (type) => {
      expect(safeMediaType(type)).toBe('application/octet-stream');
    },
  );

  test('that turns out illegal after many semicolons and spaces is refused at once', () => {
    const begun = performance.now();
    for (const between of ['; ', ';\t'])
      expect(safeMediaType(`text/csv${between.repeat(26)}=`)).toBe('application/octet-stream');
    // It took ten seconds and more when each space could be matched in two ways.
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});

/** Type of the output as it is listed and sent, and of its object in the store. */
async function typesOf(nodeInstanceId: number) {
  const path = `/api/v2/node-instance/${nodeInstanceId}/outputs`;
  const [output] = (await ask(api.url, 'GET', path, { token: people.Developer.token })).body;
  const data = await ask(api.url, 'GET', `/api/v2/node-instance/outputs/${output.id}/data`, {
    token: people.Developer.token,
  });
  const object = await client.send(
    new HeadObjectCommand({ Bucket: platform.s3.bucket, Key: output.dataPath }),
  );
  return { listed: output.contentType, sent: data.headers.get('content-type'), stored: object.ContentType };
}

const asSent = (type: string) => ({ listed: type, sent: type, stored: 'application/octet-stream' });

describe('the Content-Type of an output comes back as it was sent, and the store never sees it', () => {
  test('on an upload', async () => {
    for (const type of [...examples, ...fc.sample(legalType, 10)]) {
      const graph = await stage.chainOf(1);
      const upload = await stage.upload(graph, 'input', 'a,b\n1,2\n', { 'content-type': type });
      expect([type, upload.status]).toEqual([type, 201]);
      expect(await typesOf(graph.nodes.input!)).toEqual(asSent(type));
    }
  });

  test.each(examples)('on an output of a task, in one request and in parts (%s)', async (type) => {
    for (const isInParts of [false, true]) {
      const { graph, runner, uploads, taskId } = await parts.held();
      if (isInParts) {
        const { handle } = (await uploads.start(taskId, { 'content-type': type })).body;
        await uploads.put(taskId, handle, 1, 'bytes');
        expect((await uploads.complete(taskId, handle)).status).toBe(201);
      } else {
        expect((await runner.write(taskId, 'bytes', { 'content-type': type })).status).toBe(201);
      }
      await runner.end(taskId, 'complete', { outcome: 'completed' });
      expect(await typesOf(graph.nodes.n1!)).toEqual(asSent(type));
    }
  });
});
