/** Platform configuration: names, typed values and groups (contract: Platform configuration; decisions 13). */
import { limits } from './limits.ts';
import { parseStrictJson } from './strict-json.ts';
import { isStorableText, utf8Bytes } from './text.ts';

/** The wire's `valueType` numbers. */
export const valueTypes = { string: 0, integer: 1, number: 2, bool: 3, json: 4 } as const;
export type ValueType = (typeof valueTypes)[keyof typeof valueTypes];

/** The group of names of one segment. */
const generalGroup = 'General';

const segments = /^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)*$/;
const integer = /^[+-]?\d{1,16}$/;
const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?$/;

/** True for 1 to 200 letters, digits, `_`, `-`, `.` and `:`, with no empty segment between colons. */
export function isConfigurationName(name: string): boolean {
  return name.length <= limits.configurationNameCharacters && segments.test(name);
}

export function isValueType(value: number): value is ValueType {
  return Object.values(valueTypes).some((known) => known === value);
}

/** True when a text can be read as its type: at most 64 KB, numbers finite, JSON strict. */
export function isConfigurationValue(type: ValueType, value: string): boolean {
  if (!isStorableText(value) || utf8Bytes(value) > limits.longTextBytes) return false;
  switch (type) {
    case valueTypes.string:
      return true;
    case valueTypes.integer:
      return integer.test(value) && Number.isSafeInteger(Number(value));
    case valueTypes.number:
      return decimal.test(value) && Number.isFinite(Number(value));
    case valueTypes.bool:
      return /^(true|false)$/i.test(value);
    case valueTypes.json:
      return parseStrictJson(value).ok;
  }
}

/** Whether a name is one of these prefixes or is below one: `PublicApi` covers `PublicApi:Title`, not `PublicApis`. */
export function isBelowPrefix(name: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix.replace(/:$/, '')}:`));
}

/** Entries by the first, the second and the remaining segments of their names; no remaining ones: the key ''. */
export type ConfigurationGroups<Entry> = {
  readonly [first: string]: { readonly [second: string]: { readonly [rest: string]: Entry } };
};

/** One segment alone is grouped as `General`. Objects are made from entries, so that `__proto__` stays a key. */
export function groupConfiguration<Entry extends { readonly name: string }>(
  entries: readonly Entry[],
): ConfigurationGroups<Entry> {
  const groups = new Map<string, Map<string, Map<string, Entry>>>();
  for (const entry of entries) {
    const [first, second, ...rest] = placeOf(entry.name);
    const group = groups.get(first) ?? new Map<string, Map<string, Entry>>();
    const settings = group.get(second) ?? new Map<string, Entry>();
    groups.set(first, group.set(second, settings.set(rest.join(':'), entry)));
  }
  return Object.fromEntries(
    [...groups].map(([first, group]) => [
      first,
      Object.fromEntries([...group].map(([second, settings]) => [second, Object.fromEntries(settings)])),
    ]),
  );
}

function placeOf(name: string): [string, string, ...string[]] {
  const [first = '', second, ...rest] = name.split(':');
  return second === undefined ? [generalGroup, first] : [first, second, ...rest];
}
