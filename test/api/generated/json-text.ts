/** JSON text close to a route's schema and far from it, including text that no serialiser writes. */
import fc from 'fast-check';

/** A value as it will be written; `raw` is text that is inserted unchanged. */
type Node =
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Node])[] };

const raw = (text: string): Node => ({ kind: 'raw', text });

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(nodeOf) };
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value) ?? 'null');
  return { kind: 'object', fields: Object.entries(value).map(([key, part]) => [key, nodeOf(part)] as const) };
}

function textOf(node: Node): string {
  if (node.kind === 'raw') return node.text;
  if (node.kind === 'list') return `[${node.items.map(textOf).join(',')}]`;
  return `{${node.fields.map(([key, part]) => `${JSON.stringify(key)}:${textOf(part)}`).join(',')}}`;
}

const deep = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);

/** Values that often break programs, as JSON text. */
export const hardValues: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '1.5', '2147483648', '-2147483649', '9007199254740991'],
  ...[
    '9007199254740993',
    '1e308',
    '1e400',
    '-1e400',
    '5e-324',
    '9'.repeat(400),
    '123456789012345678901234567890',
  ],
  ...['""', '" "', '"\\t\\n"', '"0"', '"1"', '"-1"', '"NaN"', '"true"', '"null"', '"[object Object]"'],
  ...[
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ufeff"',
    '"\\u202e"',
    '"é😀"',
    '"\\u2028"',
  ],
  ...['"%"', '"_"', '"\\\\"', '"\'; drop table session; --"', '"{{7*7}}"', '"../../etc/passwd"', '"<b>"'],
  ...['"__proto__"', '"constructor"', '"toString"', '"hasOwnProperty"', '"platform"', '"Administrator"'],
  ...[
    '"2026-02-30"',
    '"2026-01-01"',
    '"9999-12-31T23:59:59.999Z"',
    '"0000-01-01T00:00:00Z"',
    '"2026-01-01T00:00:00+25:00"',
  ],
  ...['"a@b"', '"a@b.c"', '" A@Example.ORG "', '"@"', '"a@@b.c"', `"${'a'.repeat(300)}@example.org"`],
  ...[
    '"00000000-0000-0000-0000-000000000000"',
    '"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"',
    '"{00000000-0000-0000-0000-000000000000}"',
  ],
  ...[
    JSON.stringify('x'.repeat(256)),
    JSON.stringify('é'.repeat(40_000)),
    JSON.stringify('y'.repeat(70_000)),
  ],
  ...[
    '[]',
    '{}',
    '[null]',
    '[[]]',
    '{"a":1}',
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
  ],
  ...[
    '{"toString":1,"valueOf":2,"then":3}',
    '{"length":-1}',
    '{"":""}',
    '{"$ref":"#"}',
    '{"id":null,"email":null}',
  ],
  ...[deep(21), deep(63), deep(70), deep(21, '{"a":', '}').replace('}', '1}'), `[${'1,'.repeat(5000)}1]`],
];

/** Whole bodies that are not JSON, or almost not. */
const hardBodies: readonly string[] = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '\ufeff{}',
    '/* */{}',
    'undefined',
    'NaN',
    '[1,2',
  ],
  ...[
    '{"a":1,"a":2}',
    '{"a":{"b":1,"b":1}}',
    '{"\\u0061":1,"a":2}',
    deep(300),
    deep(100_000),
    '{"a":"\n"}',
    '"',
  ],
];

/** Text of a value of another type than the wanted one. */
export const farText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hardBodies),
  fc.constantFrom(...hardValues),
  fc.json({ noUnicodeString: false, maxDepth: 4 } as fc.JsonSharedConstraints),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

type Change = {
  readonly how: 'replace' | 'drop' | 'double' | 'add' | 'wrap';
  readonly where: readonly number[];
  readonly key: string;
  readonly text: string;
};

const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom('replace', 'replace', 'replace', 'drop', 'double', 'add', 'wrap'),
  where: fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
  key: fc.oneof(
    fc.constantFrom('__proto__', 'constructor', 'id', 'unknown', '', 'status', '$schema', 'toString'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  ),
  text: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...hardValues) }, fc.json({ maxDepth: 3 })),
});

/** Text of the example with up to three places changed; often none, so that valid text is tried as well. */
export function nearText(example: unknown): fc.Arbitrary<string> {
  return fc
    .array(change, { maxLength: 3 })
    .map((changes) => textOf(changes.reduce((node, one) => changed(node, one, one.where), nodeOf(example))));
}

function changed(node: Node, one: Change, [at = 0, ...rest]: readonly number[]): Node {
  if (node.kind === 'raw') return rawChange(node, one);
  const parts = node.kind === 'list' ? node.items.length : node.fields.length;
  if (one.how === 'add' || parts === 0) return withNew(node, one);
  const index = at % parts;
  if (node.kind === 'list')
    return { kind: 'list', items: editAt(node.items, index, one, rest, (item) => changed(item, one, rest)) };
  const inField = ([key, part]: readonly [string, Node]) => [key, changed(part, one, rest)] as const;
  return { kind: 'object', fields: editAt(node.fields, index, one, rest, inField) };
}

function rawChange(node: Node, one: Change): Node {
  return one.how === 'wrap' ? { kind: 'list', items: [node] } : raw(one.text);
}

function withNew(node: Exclude<Node, { kind: 'raw' }>, one: Change): Node {
  return node.kind === 'list'
    ? { kind: 'list', items: [...node.items, raw(one.text)] }
    : { kind: 'object', fields: [...node.fields, [one.key, raw(one.text)] as const] };
}

/** Drops or doubles the part at the end of the path, else descends into it. */
function editAt<Part>(
  parts: readonly Part[],
  index: number,
  { how }: Change,
  rest: readonly number[],
  into: (part: Part) => Part,
): Part[] {
  const isEnd = rest.length === 0;
  if (isEnd && how === 'drop') return parts.filter((_part, at) => at !== index);
  if (isEnd && how === 'double') return parts.flatMap((part, at) => (at === index ? [part, part] : [part]));
  return parts.map((part, at) => (at === index ? into(part) : part));
}
