/** What the platform finds wrong with a configuration, by the field it is about, in words for people. Pure. */

interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Sentences of the platform's validator of schemas, and what to do about each. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/must (?:NOT have fewer than 1 characters|have required property .*)$/, 'Enter a value'],
  [/must NOT have fewer than (\d+ \w+)$/, 'Enter at least $1'],
  [/must NOT have more than (\d+ \w+)$/, 'Enter at most $1'],
  [/must be >= (\S+)$/, 'Must be $1 or more'],
  [/must be <= (\S+)$/, 'Must be $1 or less'],
  [/must be > (\S+)$/, 'Must be more than $1'],
  [/must be < (\S+)$/, 'Must be less than $1'],
  [/must be equal to one of the allowed values \((.*)\)$/, 'Must be one of $1'],
  [/must be multiple of (\S+)$/, 'Must be a multiple of $1'],
  [/must ((?:match|be) .*)$/, 'Must $1'],
];

const missing = /must have required property '(.*)'\.$/;

/** The key of its field, and the words beside that. */
export function faultOf({ path, message }: Issue): readonly [key: string, words: string] {
  const key = path.replace(/^\$\.configuration\b/, '$');
  const name = missing.exec(message)?.[1];
  const reason = message.replace(/^Does not match the schema: (.*)\.$/, '$1');
  const known = sentences.find(([sentence]) => sentence.test(reason));
  return [
    name === undefined ? key : `${key}.${name}`,
    reason === message || known === undefined ? message : reason.replace(...known),
  ];
}
