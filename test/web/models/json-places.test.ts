/** Where a JSON path stands in a text, without a browser. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonPath } from '../../../domain/issue.ts';
import { placeOf, syntaxFault } from '../../../web/src/templates/json-places.ts';

const text = `{
  "Name": "laps, \\"all\\" [1]",
  "Nodes": [
    { "Name": "in", "Parents": [] },
    {
      "Name": "out",
      "a b's": { "x": -1.5e3 },
      "Parents": ["in", "none"]
    }
  ]
}
`;
const at = (path: string) => {
  const { start, end, line } = placeOf(text, path);
  return [line, text.slice(start, end)];
};

describe('the place of a path', () => {
  test.each([
    ['$.Name', 2, '"laps, \\"all\\" [1]"'],
    ['$.Nodes[0]', 4, '{ "Name": "in", "Parents": [] }'],
    ['$.Nodes[1].Parents[1]', 8, '"none"'],
    [jsonPath('Nodes', 1, "a b's", 'x'), 7, '-1.5e3'],
  ])('%s is that of its value', (path, line, value) => {
    expect(at(path)).toEqual([line, value]);
  });

  test.each([
    ['$.Nodes[1].NodeTemplateName', 5, '{'],
    ['$.Nodes[7]', 3, '"Nodes": '],
    ['$.Nodes[1].Parents[1].deeper', 8, '"'],
    ['$.Description', 1, '{'],
  ])('%s, where nothing is, is that of what should hold it', (path, line, value) => {
    expect(at(path)).toEqual([line, value]);
  });

  test('$ is the whole', () => expect(at('$')).toEqual([1, text.trimEnd()]));

  test('leads to each value of any document, however it is written', () => {
    const paths = (value: unknown, steps: (string | number)[] = []): [(string | number)[], unknown][] => [
      [steps, value],
      ...(typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, inner]) =>
            paths(inner, [...steps, Array.isArray(value) ? Number(key) : key]),
          )
        : []),
    ];
    // Long keys are cut in a path.
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false),
        fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => (number === 0 ? 0 : number)),
        fc.string({ unit: 'grapheme' }),
        fc.array(tie('document'), { maxLength: 4 }),
        fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 20 }), tie('document'), {
          maxKeys: 4,
          noNullPrototype: true,
        }),
      ),
    }));
    fc.assert(
      fc.property(document, fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        for (const [steps, expected] of paths(JSON.parse(written))) {
          const { start, end, line } = placeOf(` ${written}\n`, jsonPath(...steps));
          expect(JSON.parse(` ${written}\n`.slice(start, end))).toEqual(expected);
          expect(line).toBe(` ${written}`.slice(0, start).split('\n').length);
        }
      }),
    );
  });
});

test('what is no JSON has one fault at its place', () => {
  expect(syntaxFault('{"a": 1}')).toBeNull();
  expect(syntaxFault('{\n  "a": 1,\n  b\n}')).toMatchObject({ path: null, place: { line: 3 } });
  expect(syntaxFault('{\n  "a": 1\n')).toMatchObject({ place: { line: 2 } });
  expect(syntaxFault('')).toMatchObject({ place: { start: 0, end: 0, line: 1 } });
});
