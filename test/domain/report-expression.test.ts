import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ReportRow, reportSources } from '../../domain/reports/report.ts';
import { compileExpression } from '../../domain/reports/report-expression.ts';
import { cpuMs } from '../support/cpu-time.ts';

/** Metadata of the largest size that a session may have: a long list and a long text. */
const metadata = {
  list: Array.from({ length: 8_000 }, (_, index) => index),
  laps: [
    { driver: 'A', time: 61, note: 'wet' },
    { driver: 'B', time: 59, note: 'dry' },
  ],
  text: 'a'.repeat(30_000),
};
const row: ReportRow = {
  dimension: {},
  metadata,
  scenarioInstance: {},
  user: { name: 'B' },
  dashboard: {},
};
/** Doubles a value again and again under new names. */
const doubled = (times: number, seed: string) =>
  Array.from(
    { length: times },
    (_, index) => `cel.bind(x${index}, ${index === 0 ? seed : `x${index - 1} + x${index - 1}`}, `,
  )
    .join('')
    .concat(`size(x${times - 1})`, ')'.repeat(times));

describe('an expression', () => {
  test.each([
    'list.all(x, text.matches("^(a|a)*$"))',
    'list.map(x, metadata.list + metadata.list)',
    'list.map(x, text.split(""))',
    'text.split("").map(x, text + text)',
    'list.filter(x, x in metadata.list)',
    'list.all(x, metadata.list == metadata.list)',
    'list.map(x, x == text.split("").size())',
    'list.map(x, string(x)).join(text)',
    'list.map(x, [x, x]).map(y, y + y).map(z, z + z)',
    'list.map(x, metadata.list.map(y, y))',
    'text.split("").join(text)',
    doubled(10, 'metadata.list'),
    doubled(10, 'text'),
    Array(99).fill('text').join(' + '),
    Array(99).fill('metadata.list').join(' + '),
    'list.map(x, x + x + x + x + x)',
    'text.matches("^(a+)+$")',
    `"${'a'.repeat(64_000)}"`,
    `list.map(x, size("${'a'.repeat(64_000)}"))`,
    `list.map(x, "${'a'.repeat(1_900)}" + string(x)).join("")`,
    `list.map(x, ["${'a'.repeat(30_000)}", x == "${'a'.repeat(30_000)}"])`,
    `"${'a'.repeat(64_000)}".split("").map(x, x == metadata.text)`,
    `text.contains("${'a'.repeat(30_000)}b${'a'.repeat(30_000)}")`,
    `string(${'9'.repeat(64_000)})`,
    `text.matches("${'a|'.repeat(32_000)}b")`,
    ...['(', '[', '-', '!', '1+', 'true ? 1 : ', '"', '\\', '// '].map((part) =>
      part.repeat(64_000 / part.length),
    ),
    `metadata${'.a'.repeat(32_000)}`,
    'a'.repeat(64_000),
  ])('costs little, however it is written, or is refused when the report is saved: %s', (written) => {
    // `list` alone names a type of the language.
    const parsed = cpuMs();
    const compiled = compileExpression(written.replaceAll(/(?<![.\w])list\b/g, 'metadata.list'), 'metadata');
    expect(cpuMs() - parsed).toBeLessThan(1_000);
    if (!compiled.ok) {
      expect(compiled.reason).not.toBe('');
      return expect(compiled.reason.length).toBeLessThan(300);
    }
    const before = process.memoryUsage().rss;
    const began = cpuMs();
    compiled.evaluate(row);
    expect(cpuMs() - began).toBeLessThan(5_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test('inside a loop reads what the loop goes over, and compares it with anything', () => {
    const values: [string, unknown][] = [
      ['laps.filter(l, l.driver == user.name)[0].note', 'dry'],
      ['laps.exists(l, user.name == l.driver && l.time < 60)', true],
      ['laps.map(l, l.time).size()', 2n],
      ['laps.map(l, l.note.matches("^d") ? l.driver : "").join("")', 'B'],
      ['laps.all(l, l.time > 0) ? user.name : "none"', 'B'],
    ];
    for (const [written, value] of values) {
      const compiled = compileExpression(written, 'metadata');
      expect([written, compiled.ok && compiled.evaluate(row)]).toEqual([written, value]);
    }
  });

  test('converts times, durations and unsigned integers as the language says', () => {
    const from = new Date('2026-03-01T10:00:00.250Z');
    const values: [string, unknown][] = [
      ['timestamp(from)', from],
      ['string(from)', '2026-03-01T10:00:00.25Z'],
      ['string(timestamp("2026-03-01T10:00:00Z"))', '2026-03-01T10:00:00Z'],
      ['int(from)', 1_772_359_200n],
      ['string(to - from)', '5405.5s'],
      ['string(from - to)', '-5405.5s'],
      ['string(duration(duration("90s")))', '90s'],
      ['string(duration("5s") - duration("6.5s"))', '-1.5s'],
      ['int(5u)', 5n],
      ['int(2.5)', 2n],
    ];
    for (const [written, value] of values) {
      const compiled = compileExpression(written, 'scenarioInstance');
      const timed = { ...row, scenarioInstance: { from, to: new Date('2026-03-01T11:30:05.750Z') } };
      expect([written, compiled.ok && compiled.evaluate(timed)]).toEqual([written, value]);
    }
  });

  test('reads the parts of a time in a zone alike in every time zone of a server', () => {
    const parts: [string, string, bigint][] = [
      ['2026-07-15T12:00:00Z', 'getDayOfYear()', 195n],
      ['2026-07-15T00:30:00Z', 'getDayOfYear("UTC")', 195n],
      ['2026-07-15T00:30:00Z', 'getDayOfYear("America/New_York")', 194n],
      ['2026-12-31T23:30:00Z', 'getDayOfYear("Europe/Berlin")', 0n],
      ['2026-03-29T02:30:05Z', 'getHours("UTC")', 2n],
      ['2026-03-29T02:30:05Z', 'getMinutes("Asia/Kathmandu")', 15n],
      ['2026-03-29T02:30:05Z', 'getSeconds("UTC")', 5n],
      ['2026-03-29T02:30:05Z', 'getHours("-02:30")', 0n],
      ['2026-03-29T02:30:05Z', 'getHours("02:00")', 4n],
      ['2026-12-31T23:30:00Z', 'getFullYear("Europe/Berlin")', 2027n],
      ['2026-12-31T23:30:00Z', 'getMonth("Europe/Berlin")', 0n],
      ['2026-12-31T23:30:00Z', 'getDate("Europe/Berlin")', 1n],
      ['2026-12-31T23:30:00Z', 'getDayOfMonth("Europe/Berlin")', 0n],
      ['2026-12-31T23:30:00Z', 'getDayOfWeek("Europe/Berlin")', 5n],
    ];
    const { TZ: zone } = process.env;
    try {
      for (const other of ['UTC', 'Europe/Berlin', 'America/New_York']) {
        process.env.TZ = other;
        for (const [time, part, value] of parts) {
          const compiled = compileExpression(`timestamp("${time}").${part}`, 'metadata');
          expect([other, part, compiled.ok && compiled.evaluate(row)]).toEqual([other, part, value]);
        }
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test('that is nested beyond what the engine can read is refused by that name', () => {
    for (const sign of ['!', '-'])
      expect(compileExpression(`${sign.repeat(60_000)}true`, 'dimension')).toMatchObject({
        ok: false,
        reason: 'nested too deeply',
      });
  });

  test('that could cost too much is refused with reason and position', () => {
    const refusals: [string, string, number][] = [
      ['laps.map(l, user.name + l.driver)', "inside a loop 'user' can only be compared with 'l'", 12],
      ['cel.bind(a, 1, a)', 'cel.bind is not available', 0],
      ['laps.map(l, l.note).join(user.name)', 'the separator of join must be a literal', 0],
      ['laps.map(l, laps.map(m, m))', 'a loop inside a loop', 12],
      [`laps.map(l, "${'a'.repeat(2_001)}")`, 'more than 2000 characters of text in loops', 12],
      ['1 + 9223372036854775809', 'an integer of more than 64 bits', 4],
      [`"${'ä'.repeat(32_768)}"`, 'longer than 65536 bytes', 0],
    ];
    for (const [written, reason, position] of refusals)
      expect(compileExpression(written, 'metadata')).toEqual({ ok: false, reason, position });
  });
});

/** Without `constructor` and `__proto__`, by which the engine inspects the class of an object. */
const name = fc.constantFrom('user', 'dimension', 'name', 'from', 'list', 'a', 'toString', 'size');
const leaf = fc.oneof(
  fc.constantFrom(null, true, 'text', '', 0.5, new Date(0)),
  fc.integer(),
  fc.integer().map((number) => BigInt(number)),
  fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
);
const plain = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.dictionary(name, tie('value'), { noNullPrototype: true, maxKeys: 5 }),
  ),
})).value;
const part = fc.dictionary(name, plain, { noNullPrototype: true, maxKeys: 6 });
const anyRow = fc.record({
  dimension: part,
  metadata: part,
  scenarioInstance: part,
  user: part,
  dashboard: part,
}) as fc.Arbitrary<ReportRow>;

test('a plain path finds what the engine finds in any row', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...reportSources),
      fc.array(name, { maxLength: 4 }),
      anyRow,
      (source, names, row) => {
        const path = [source, ...names].join('.');
        const [quick, engine] = [path, `true ? ${path} : ${path}`].map((text) =>
          compileExpression(text, source),
        );
        if (!quick!.ok || !engine!.ok) return expect(quick!.ok).toBe(engine!.ok);
        expect(quick!.evaluate(row)).toEqual(engine!.evaluate(row));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('an expression reads of a row no field but those that it names, unless it uses a whole part', () => {
  const leafPath = fc.tuple(fc.constantFrom(...reportSources), name).map((path) => path.join('.'));
  const written = fc.oneof(
    leafPath,
    name,
    fc.tuple(leafPath, leafPath).map(([one, other]) => `${one} == ${other}`),
    fc.tuple(leafPath, name).map(([path, own]) => `[${path}].exists(x, x == 1) ? ${own} : ${path}`),
    leafPath.map((path) => `has(${path}) ? 1 : 2`),
    fc.constantFrom('size(dimension)', 'dimension["a"]', 'metadata.?a', 'user.map(u, u)', 'string(user.a)'),
  );
  fc.assert(
    fc.property(fc.constantFrom(...reportSources), written, anyRow, (source, text, full) => {
      const compiled = compileExpression(text, source);
      if (!compiled.ok || compiled.reads.wholeSource) return;
      const { names } = compiled.reads;
      const needed = Object.entries(full).map(([key, fields]) => [
        key,
        Object.fromEntries(Object.entries(fields).filter(([field]) => names.has(field))),
      ]);
      const pruned = Object.fromEntries(needed) as ReportRow;
      expect(compiled.evaluate(pruned)).toEqual(compiled.evaluate(full));
    }),
    { numRuns: 1_000 },
  );
  const isWhole = (text: string) => {
    const compiled = compileExpression(text, 'user');
    return compiled.ok && compiled.reads.wholeSource;
  };
  expect(
    ['size(dimension)', 'dimension["a"]', 'dimension.?a', 'has(user.name)', 'user.name'].map(isWhole),
  ).toEqual([true, true, true, false, false]);
});
