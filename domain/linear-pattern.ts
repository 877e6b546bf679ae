/**
 * Regular expressions of strangers, matched in time proportional to text x pattern.
 *
 * JavaScript's own engine backtracks: `^(a+)+$` takes years on a line of text. Here a pattern becomes a
 * nondeterministic automaton that is walked once over the text with all its states at a time. What cannot be walked
 * so, look-around and back-references, is refused when the pattern is read. The engine of the language decides two
 * things only: whether the pattern is well-formed, and whether one character belongs to one class.
 */

export class PatternError extends Error {}

/** One automaton state: reads a character, forks without reading, or holds only at a place of the text. */
type State =
  | { readonly kind: 'read'; readonly matches: (character: string) => boolean; next: number }
  | { readonly kind: 'fork'; next: number[] }
  | {
      readonly kind: 'place';
      readonly holds: (before: string | null, after: string | null) => boolean;
      next: number;
    }
  | { readonly kind: 'end' };

export interface LinearPattern {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  /** Size of the automaton: `test` takes at most this many steps for each character. */
  readonly stateCount: number;
}

export const patternLimits = { patternCharacters: 1000, patternStates: 1000 } as const;

type Parsed =
  | { readonly kind: 'read'; readonly source: string }
  | { readonly kind: 'place'; readonly place: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'sequence'; readonly parts: Parsed[] }
  | { readonly kind: 'choice'; readonly options: Parsed[] }
  | { readonly kind: 'repeat'; readonly part: Parsed; readonly least: number; readonly most: number };

/** Reads a pattern of the `u` flavour. Throws {@link PatternError} with a sentence for the caller. */
export function readPattern(pattern: string, maxStates: number = patternLimits.patternStates): LinearPattern {
  if (pattern.length > patternLimits.patternCharacters) {
    throw new PatternError(`A pattern may have at most ${patternLimits.patternCharacters} characters.`);
  }
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw new PatternError('The pattern is not a valid regular expression.');
  }
  const automaton = new Automaton(maxStates);
  const start = automaton.build(new PatternReader(pattern).choice(), automaton.add({ kind: 'end' }));
  return {
    test: (text) => runAutomaton(automaton.states, start, text),
    stateCount: automaton.states.length,
  };
}

/** Splits a pattern that is known to be well-formed. Its length bounds the recursion. */
class PatternReader {
  private at = 0;
  private readonly pattern: string;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  choice(): Parsed {
    const options = [this.sequence()];
    while (this.pattern[this.at] === '|') {
      this.at++;
      options.push(this.sequence());
    }
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private sequence(): Parsed {
    const parts: Parsed[] = [];
    while (this.at < this.pattern.length && this.pattern[this.at] !== '|' && this.pattern[this.at] !== ')') {
      parts.push(this.repeat(this.atom()));
    }
    return { kind: 'sequence', parts };
  }

  private atom(): Parsed {
    const first = this.pattern[this.at]!;
    if (first === '(') return this.group();
    if (first === '^' || first === '$') {
      this.at++;
      return { kind: 'place', place: first };
    }
    if (first === '\\') return this.escape();
    const end =
      first === '['
        ? this.classEnd()
        : this.at + String.fromCodePoint(this.pattern.codePointAt(this.at)!).length;
    return this.read(end);
  }

  private read(end: number): Parsed {
    const source = this.pattern.slice(this.at, end);
    this.at = end;
    return { kind: 'read', source };
  }

  private group(): Parsed {
    const opening = /^\((?:\?(?:<[^=!][^>]*>|:))?(?!\?)/u.exec(this.pattern.slice(this.at));
    if (opening === null) throw new PatternError('Look-around and modifiers are not allowed in a pattern.');
    this.at += opening[0].length;
    const inside = this.choice();
    this.at++;
    return inside;
  }

  private escape(): Parsed {
    const rest = this.pattern.slice(this.at);
    if (/^\\[1-9k]/u.test(rest)) throw new PatternError('Back-references are not allowed in a pattern.');
    if (/^\\[bB]/u.test(rest)) {
      this.at += 2;
      return { kind: 'place', place: rest[1] === 'b' ? '\\b' : '\\B' };
    }
    const whole = /^\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|c.|[pP]\{[^}]*\}|.)/su.exec(
      rest,
    )!;
    return this.read(this.at + whole[0].length);
  }

  private classEnd(): number {
    let end = this.at + 1;
    while (this.pattern[end] !== ']') end += this.pattern[end] === '\\' ? 2 : 1;
    return end + 1;
  }

  private repeat(part: Parsed): Parsed {
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/u.exec(this.pattern.slice(this.at));
    if (quantifier === null) return part;
    this.at += quantifier[0].length;
    if (quantifier[1] === undefined) {
      const sign = quantifier[0][0];
      return {
        kind: 'repeat',
        part,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    }
    const least = Number(quantifier[1]);
    const most =
      quantifier[2] === '' ? least : quantifier[3] === '' ? Number.POSITIVE_INFINITY : Number(quantifier[3]);
    return { kind: 'repeat', part, least, most };
  }
}

/** Builds states from the end backwards: each part is given the state that follows it and gives the one it begins with. */
class Automaton {
  readonly states: State[] = [];
  private readonly maxStates: number;

  constructor(maxStates: number) {
    this.maxStates = maxStates;
  }

  add(state: State): number {
    if (this.states.length >= this.maxStates) {
      throw new PatternError('The patterns are too large: fewer or smaller repetitions are needed.');
    }
    return this.states.push(state) - 1;
  }

  build(part: Parsed, next: number): number {
    switch (part.kind) {
      case 'read':
        return this.add({ kind: 'read', matches: characterTest(part.source), next });
      case 'place':
        return this.add({ kind: 'place', holds: placeTests[part.place], next });
      case 'sequence':
        return part.parts.reduceRight((following, item) => this.build(item, following), next);
      case 'choice':
        return this.add({ kind: 'fork', next: part.options.map((option) => this.build(option, next)) });
      case 'repeat':
        return this.repeat(part.part, part.least, part.most, next);
    }
  }

  private repeat(part: Parsed, least: number, most: number, next: number): number {
    let following = next;
    if (most === Number.POSITIVE_INFINITY) {
      const loop = { kind: 'fork' as const, next: [next] };
      following = this.add(loop);
      loop.next.push(this.build(part, following));
    } else {
      // A copy that makes no states would let the count run free: each optional copy is a fork, so `add` bounds it.
      for (let copy = least; copy < most; copy++) {
        following = this.add({ kind: 'fork', next: [next, this.build(part, following)] });
      }
    }
    for (let copy = 0; copy < least; copy++) {
      const before = this.states.length;
      following = this.build(part, following);
      if (this.states.length === before) break;
    }
    return following;
  }
}

const isWord = (character: string | null) => character !== null && /^\w$/u.test(character);

const placeTests = {
  '^': (before: string | null) => before === null,
  $: (_: string | null, after: string | null) => after === null,
  '\\b': (before: string | null, after: string | null) => isWord(before) !== isWord(after),
  '\\B': (before: string | null, after: string | null) => isWord(before) === isWord(after),
};

/** Membership of one character in one class or escape, remembered for ASCII. */
function characterTest(source: string): (character: string) => boolean {
  const expression = new RegExp(`^${source}$`, 'u');
  const known = new Int8Array(128);
  return (character) => {
    const code = character.charCodeAt(0);
    if (code >= 128) return expression.test(character);
    if (known[code] === 0) known[code] = expression.test(character) ? 1 : -1;
    return known[code] === 1;
  };
}

function runAutomaton(states: readonly State[], start: number, text: string): boolean {
  const seenAt = new Int32Array(states.length).fill(-1);
  let place = 0;
  let before: string | null = null;
  let reading: number[] = [];
  /** Adds what can be reached without reading; true when that is the end. */
  const reach = (from: number, after: string | null, into: number[]): boolean => {
    const waiting = [from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (seenAt[index] === place) continue;
      seenAt[index] = place;
      const state = states[index]!;
      if (state.kind === 'end') return true;
      if (state.kind === 'read') into.push(index);
      else if (state.kind === 'fork') waiting.push(...state.next);
      else if (state.holds(before, after)) waiting.push(state.next);
    }
    return false;
  };
  const characters = text[Symbol.iterator]();
  for (let step = characters.next(); ; step = characters.next()) {
    const after = step.done ? null : step.value;
    const here: number[] = [];
    // The states reached by the last character, then a fresh beginning: the pattern may start anywhere.
    for (const index of reading) if (reach(index, after, here)) return true;
    if (reach(start, after, here)) return true;
    if (after === null) return false;
    reading = [];
    for (const index of here) {
      const state = states[index]!;
      if (state.kind === 'read' && state.matches(after)) reading.push(state.next);
    }
    before = after;
    place++;
  }
}
