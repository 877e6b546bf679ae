/** The results of `input.lines()` and `input.rows()`. */
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RowOptions, readLines, readNamedRows, readRows } from '../../sdk/src/inputs/delimited-text.ts';
import { cpuMs } from '../support/cpu-time.ts';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const item of items) read.push(item);
  return read;
}
/** The bytes in pieces of a size, so that characters and line breaks are cut. */
async function* pieces(text: string | Uint8Array, size = 3) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const rows = (text: string | Uint8Array, options: RowOptions = {}) => all(readRows(pieces(text), options));
const named = (text: string) => all(readNamedRows(pieces(text)));
const lines = (text: string | Uint8Array, maxCharacters = 100) =>
  all(readLines(pieces(text), { maxCharacters }));

describe('lines', () => {
  test('come without breaks and byte order mark, however the bytes are cut', async () => {
    expect(await lines('\ufeffgrö\r\n\n✓ß\na\rb')).toEqual(['grö', '', '✓ß', 'a\rb']);
    expect(await lines('a\n')).toEqual(['a']);
    expect(await lines('')).toEqual([]);
  });

  test('that are too long or no text are refused by their number', async () => {
    const refused = (line: number, what: string) => ({
      category: 'validation',
      message: expect.stringMatching(`^line ${line}: .*${what}`),
    });
    await expect(lines('a\nbbbbb\nc', 4)).rejects.toMatchObject(refused(2, '4 characters'));
    await expect(lines('a\nbbbb', 3)).rejects.toMatchObject(refused(2, '3 characters'));
    await expect(lines(Buffer.from([97, 0xff, 10]))).rejects.toMatchObject(refused(1, 'UTF-8'));
  });
});

describe('rows', () => {
  test('are what a writer by RFC 4180 wrote, by each delimiter and line break', async () => {
    const cell = fc.string({ unit: fc.constantFrom('"', ',', ';', '\t', '\n', '\r', 'a', 'ß', ' ', '=') });
    await fc.assert(
      fc.asyncProperty(
        fc
          .integer({ min: 2, max: 4 })
          .chain((width) =>
            fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
          ),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('unix', 'windows'),
        async (table, delimiter, record_delimiter) => {
          const options = { delimiter, record_delimiter, quoted_match: /[\r\n]/ } as const;
          expect(await rows(stringify(table, options), { delimiter })).toEqual(table);
        },
      ),
    );
  });

  test('have their fields by the names of the header, as text; the delimiter is found in the header', async () => {
    expect(await named('\ufefftime;"speed; km/h"\r\n0,5;1e3\r\n\r\n1;\r\n')).toEqual([
      { time: '0,5', 'speed; km/h': '1e3' },
      { time: '1', 'speed; km/h': '' },
    ]);
    expect(Object.keys((await named('__proto__,b\n1,2'))[0]!)).toEqual(['__proto__', 'b']);
    expect(await named('only a header')).toEqual([]);
  });

  test.each([
    ['', 'line 1: there is no header'],
    ['a,b,a\n', "line 1: there are two columns 'a'"],
    ['a,b\n1,2\n\n1\n', 'line 4: 1 fields in a table of 2 columns'],
    ['a,b\n"1\n2",3\n1,"2', 'line 4: a quote is not closed'],
    ['a,b\n"1"x,2\n', 'line 2: text behind a quoted field: 1"x,2'],
  ])('that are no table are refused by their line: %j', async (text, message) => {
    await expect(named(text)).rejects.toMatchObject({ category: 'validation', message });
  });

  test('are bounded, also where one quoted field has many lines, in time that grows with their length', async () => {
    const beganAtMs = cpuMs();
    const endless = `a\n"${'\n'.repeat(2_000_000)}`;
    await expect(all(readRows(pieces(endless, 65_536)))).rejects.toMatchObject({
      message: 'line 2: a row longer than 1048576 characters',
    });
    expect(cpuMs() - beganAtMs).toBeLessThan(5_000);
  });

  test('take no delimiter that is none', async () => {
    for (const delimiter of ['', ',,', '"', '\n']) {
      await expect(rows('a', { delimiter })).rejects.toThrow(TypeError);
    }
  });
});
