/** Single fields of a template definition file, each with its faults at its JSON path. */
import { type IssueList, jsonPath } from '../issue.ts';
import { limits } from '../limits.ts';
import { isFreeJson, isName, type JsonObject } from '../text.ts';

/** The way to a value: keys and places in lists. */
export type Steps = readonly (string | number)[];

/** A field under its PascalCase or camelCase name; null counts as absent. The key is the one to show in paths. */
export function field(object: JsonObject, name: string): { key: string; value: unknown } {
  const camel = name[0]!.toLowerCase() + name.slice(1);
  const key = Object.hasOwn(object, name) || !Object.hasOwn(object, camel) ? name : camel;
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return { key, value: value === null ? undefined : value };
}

/** The trimmed name, or '' with an issue. */
export function requiredName(object: JsonObject, name: string, steps: Steps, issues: IssueList): string {
  const { key, value } = field(object, name);
  if (typeof value === 'string' && isName(value)) return value.trim();
  issues.add(
    jsonPath(...steps, key),
    value === undefined
      ? `${name} is required.`
      : `${name} must be text of 1 to ${limits.nameCharacters} characters.`,
  );
  return '';
}

export function freeJson(object: JsonObject, name: string, steps: Steps, issues: IssueList): JsonObject {
  const { key, value } = field(object, name);
  if (value === undefined) return {};
  if (isFreeJson(value)) return value;
  issues.add(
    jsonPath(...steps, key),
    `${name} must be an object of at most ${limits.freeJsonBytes / 1024} KB and ${limits.freeJsonDepthLevels} levels.`,
  );
  return {};
}
