/**
 * Excel number formats (ECMA-376-1, 18.8.31), as far as a fault in one matters: Excel opens a file that has such a format
 * only after a repair that takes all of its formats out.
 */

export interface NumberFormatFault {
  readonly position: number;
  readonly reason: string;
}

const colours = 'black|blue|cyan|green|magenta|red|white|yellow|color ?[0-9]{1,2}';
const number = String.raw`-?[0-9]+(?:\.[0-9]+)?`;

/** In the order in which they are tried. Text, signs and colours stand beside anything. */
const tokens: readonly (readonly ['beside' | 'time' | 'digits', RegExp])[] = [
  ['beside', /"[^"]*"|[\\_*]./uy],
  ['time', /(?:s+|\[s+\])\.0{1,3}|\[(?:h+|m+|s+)\]|am\/pm|a\/p/iy],
  [
    'beside',
    new RegExp(String.raw`\[(?:${colours}|(?:<=|>=|<>|<|>|=)${number}|\$[^\]]*|dbnum[1-4])\]`, 'iy'),
  ],
  ['beside', /general|@/iy],
  ['digits', /[0#?]|E[+-]/iy],
  ['time', /[ymdhsbeg]+/iy],
  ['beside', /[^a-z"\\_*[\]]/iuy],
];

/** Undefined when Excel understands the format. */
export function numberFormatFault(format: string): NumberFormatFault | undefined {
  let section = 1;
  let kind: 'time' | 'digits' | undefined;
  for (let position = 0; position < format.length; ) {
    const token = tokenAt(format, position);
    if (token === undefined) return unknownAt(format, position);
    if (token.text === ';') {
      section += 1;
      kind = undefined;
      if (section > 4) return { position, reason: 'a format has at most four sections' };
    } else if (token.kind !== 'beside') {
      if (kind !== undefined && kind !== token.kind) return mixedAt(position, token.text);
      kind = token.kind;
    }
    position += token.text.length;
  }
  return undefined;
}

function tokenAt(format: string, position: number) {
  for (const [kind, pattern] of tokens) {
    pattern.lastIndex = position;
    const text = pattern.exec(format)?.[0];
    if (text !== undefined) return { kind, text };
  }
  return undefined;
}

function unknownAt(format: string, position: number): NumberFormatFault {
  const character = format[position]!;
  if (character === '"') return { position, reason: 'the double quote is not closed' };
  if (character === '[') {
    return { position, reason: 'the square bracket holds no colour, condition, currency or elapsed time' };
  }
  return { position, reason: `'${character}' is not part of a format; text stands in double quotes` };
}

const mixedAt = (position: number, text: string): NumberFormatFault => ({
  position,
  reason: `'${text}' mixes a time with digits; text stands in double quotes`,
});
