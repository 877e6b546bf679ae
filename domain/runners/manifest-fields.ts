/** Reading the items of a manifest: each field is checked as it is read, and each fault keeps its path. */

import { type IssueList, jsonPath, quote } from '../issue.ts';
import { limits } from '../limits.ts';
import { isRunnerName, runnerNames } from '../runner-name.ts';
import { checkConfigurationSchema } from '../templates/configuration-schema.ts';
import { isJsonObject, isStorableText, type JsonObject, withinCharacters } from '../text.ts';
import { type Concurrency, concurrencyMax } from './concurrency.ts';

/** The name of a file in the operator's folder of deployed runners: never a path out of it. */
export function isEntrypointName(value: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(value);
}

type Steps = readonly (string | number)[];

/** Warns of each field that is not among the known ones, which is ignored, with the known one that it resembles. */
export function warnOfUnknown(
  value: unknown,
  steps: Steps,
  known: readonly string[],
  warnings: IssueList,
): void {
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = known.find((name) => isAlmost(key, name));
    const hint = meant === undefined ? '' : ` Did you mean ${quote(meant)}?`;
    warnings.add(jsonPath(...steps, key), `Unknown field; it is ignored.${hint}`);
  }
}

/** Whether two names differ in case or separators alone, or by one character that is missing, too many, or another. */
function isAlmost(key: string, name: string): boolean {
  if (Math.abs(key.length - name.length) > 2) return false;
  const [a, b] = [key, name].map((text) => text.toLowerCase().replaceAll(/[_ -]/g, '')) as [string, string];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  const rests = [a.slice(same), b.slice(same)] as const;
  return (
    rests[0].slice(1) === rests[1] ||
    rests[0] === rests[1].slice(1) ||
    rests[0].slice(1) === rests[1].slice(1)
  );
}

/** Reads the fields of one item, adding an error for each that is wrong. */
export class Fields {
  readonly #value: JsonObject;
  readonly #steps: Steps;
  readonly #errors: IssueList;

  constructor(value: unknown, steps: Steps, errors: IssueList) {
    if (!isJsonObject(value)) errors.add(jsonPath(...steps), 'The item must be an object.');
    this.#value = isJsonObject(value) ? value : {};
    this.#steps = steps;
    this.#errors = errors;
  }

  fault(key: string, message: string): void {
    this.#errors.add(jsonPath(...this.#steps, key), message);
  }

  /** Lowercase latin letters, digits and single hyphens, beginning with a letter; '' with an error otherwise. */
  name(key: string): string {
    const value = this.#value[key];
    if (typeof value === 'string' && isRunnerName(value)) return value;
    this.fault(
      key,
      `${key} must have ${runnerNames.minCharacters} to ${runnerNames.maxCharacters} lowercase latin letters, digits and single hyphens, and start with a letter.`,
    );
    return '';
  }

  oneOf<const T extends string>(key: string, allowed: readonly T[], fallback?: T): T {
    const value = this.#value[key] ?? fallback;
    const found = allowed.find((item) => item === value);
    if (found === undefined) this.fault(key, `${key} must be one of ${allowed.map(quote).join(', ')}.`);
    return found ?? allowed[0]!;
  }

  flag(key: string): boolean {
    const value = this.#value[key] ?? false;
    if (typeof value !== 'boolean') this.fault(key, `${key} must be true or false.`);
    return value === true;
  }

  integer<T>(key: string, least: number, most: number, fallback: T): number | T {
    const value = this.#value[key] ?? fallback;
    if (value === fallback) return fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    this.fault(key, `${key} must be a whole number from ${least} to ${most}.`);
    return fallback;
  }

  /** Undefined when nothing is said. */
  concurrency(warnings: IssueList): Concurrency | undefined {
    const value = this.#value.concurrency ?? undefined;
    if (value === undefined) return undefined;
    const steps = [...this.#steps, 'concurrency'];
    warnOfUnknown(value, steps, ['max', 'perProject', 'perSession'], warnings);
    const fields = new Fields(value, steps, this.#errors);
    const limit = {
      max: fields.integer('max', 1, concurrencyMax, null),
      perProject: fields.integer('perProject', 1, concurrencyMax, null),
      perSession: fields.integer('perSession', 1, concurrencyMax, null),
    };
    if (isJsonObject(value) && value.max === undefined) fields.fault('max', 'max is missing.');
    return limit;
  }

  description(): string {
    const value = this.#value.description ?? '';
    if (
      typeof value === 'string' &&
      isStorableText(value) &&
      withinCharacters(value, limits.descriptionCharacters)
    )
      return value;
    this.fault(
      'description',
      `description must be text of at most ${limits.descriptionCharacters} characters.`,
    );
    return '';
  }

  schema(key: string): JsonObject {
    const value = this.#value[key];
    const faults = checkConfigurationSchema(value, [...this.#steps, key]);
    for (const { path, message } of faults) this.#errors.add(path, message);
    return isJsonObject(value) && faults.length === 0 ? value : {};
  }

  raw(key: string): unknown {
    return this.#value[key] ?? undefined;
  }
}
