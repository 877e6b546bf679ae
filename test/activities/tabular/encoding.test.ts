/** Text in other encodings than UTF-8. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const western = 'Zeit [s];Temperatur Öl [°C];Fläche [m²];Größe\n0;20,5;1;groß\n1;21,5;2;Maß ±5 µm\n';
const columns = [
  { name: 'Temperatur Öl', unit: '°C' },
  { name: 'Fläche', unit: 'm²' },
  { name: 'Größe', unit: null },
];

describe('text of a Western instrument is read without a configuration, with a remark', () => {
  test.each([
    ['as it is', Buffer.from(western, 'latin1')],
    ['packed', gzipSync(Buffer.from(western, 'latin1'))],
  ])('%s', async (_, bytes) => {
    const converted = await bench.convert(bytes);
    expect(converted.description.channels).toMatchObject(columns);
    expect((await bench.rows(converted)).map((row) => row.Größe)).toEqual(['groß', 'Maß ±5 µm']);
    expect(converted.description.warnings).toContain(
      'The text is not UTF-8; it was read as windows-1252. If the text has another encoding, name it in the configuration of the node as encoding.',
    );
  });

  test('also as NDJSON', async () => {
    const converted = await bench.convert(Buffer.from('{"t":0,"Öl":1}\n{"t":1,"Öl":2}\n', 'latin1'));
    expect(converted.description.channels).toMatchObject([{ name: 'Öl' }]);
  });

  test('but not text that may be of another code page, nor UTF-8 with a fault', async () => {
    const others: [string, Buffer][] = [
      ['Cyrillic', Buffer.from([0xc2, 0xf0, 0xe5, 0xec, 0xff])],
      ['a letter of Polish', Buffer.from('Si\xb3a', 'latin1')],
      ['a letter of Polish at the end', Buffer.from('kana\xb3', 'latin1')],
      ['a letter of Czech', Buffer.from('Pr\xf9m\xecr', 'latin1')],
      ['Chinese', Buffer.from([0xce, 0xc2, 0xb6, 0xc8])],
      ['a damaged character', Buffer.concat([Buffer.from('°C;'), Buffer.from([0xb0])])],
      ['UTF-8 beside Latin-1', Buffer.concat([Buffer.from('Größe;'), Buffer.from([0xe4])])],
    ];
    for (const [name, heading] of others) {
      const fault = await bench.fails(
        Buffer.concat([Buffer.from('t;'), heading, Buffer.from('\n0;1\n1;2\n')]),
      );
      expect(fault.message, name).toMatch(/^Line 1, .* is not UTF-8\. .*as encoding/);
    }
  });
});

describe('text is read in the encoding of the configuration', () => {
  test('a code page', async () => {
    const polish = Buffer.from('t,Si\xb3a,Pr\xb9d\n0,1,2\n1,3,4\n', 'latin1');
    const converted = await bench.convert(polish, { encoding: 'windows-1250' });
    expect(converted.description).toMatchObject({
      channels: [{ name: 'Siła' }, { name: 'Prąd' }],
      warnings: [],
    });
  });

  test('UTF-16 without a mark', async () => {
    const text = Buffer.from('t,°C\n0,1\n1,3\n', 'utf16le');
    const { description } = await bench.convert(text, { encoding: 'utf-16le' });
    expect(description.channels).toMatchObject([{ name: '°C' }]);
  });

  test('and in that of its byte order mark where it has one', async () => {
    const { description } = await bench.convert('\ufefft,Öl\n0,1\n1,3\n', { encoding: 'windows-1252' });
    expect(description.channels).toMatchObject([{ name: 'Öl' }]);
  });

  test('and is refused where it has bytes of none', async () => {
    const latin = Buffer.from(western, 'latin1');
    expect((await bench.fails(latin, { encoding: 'utf-8' })).message).toContain('is not UTF-8');
    expect(
      (await bench.fails(Buffer.from('t,\x92\x80\n0,1\n', 'latin1'), { encoding: 'big5' })).message,
    ).toBe('The text contains bytes that are not big5.');
  });
});

test('a number beside a blank that is none of ASCII makes its column texts; the file is read', async () => {
  const converted = await bench.convert('t;a;on\n0;\u00a01,5;true\u00a0\n1;2,5;false\n');
  expect(converted.description.channels).toMatchObject([
    { name: 'a', type: 'text' },
    { name: 'on', type: 'text' },
  ]);
});
