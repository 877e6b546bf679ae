/**
 * Node configurations against the JSON Schema (2020-12, inline) that their node template declares (decisions 10).
 *
 * Schemas are untrusted input and are compiled to code, so their cost is bounded:
 * - size, depth, number and cost of subschemas are limited and references refused, so that each place of a
 *   configuration meets each subschema at most once; places times cost are limited too;
 * - patterns run on `linear-pattern.ts`, in linear time and with one bound for all patterns of a schema; what cannot
 *   run so (look-around, back-references) is refused when the manifest is checked;
 * - some keywords are our own, in `schema-keywords.ts`;
 * - `format` is an annotation, as the specification has it;
 * - all faults of a configuration are listed only where they cannot become many, else the first alone.
 */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Issue, IssueList, jsonPath } from '../issue.ts';
import { limits } from '../limits.ts';
import { isFreeJson, isJsonObject, type JsonObject, jsonDepthLevels, utf8Bytes } from '../text.ts';
import { type LinearPattern, PatternError, patternLimits, readPattern } from './linear-pattern.ts';
import { countFalse, countPlaces, schemaCost } from './schema-cost.ts';
import { describeFault } from './schema-faults.ts';
import { withLinearKeywords } from './schema-keywords.ts';

export const schemaLimits = {
  schemaBytes: 64 * 1024,
  schemaDepthLevels: 40,
  /** Objects of any kind in the schema: an upper bound of its subschemas. */
  schemaObjects: 500,
  /** See `schema-cost.ts`. */
  schemaCost: 4000,
  /** Subschemas that are `false`, which are no objects. Compiled code nests as deep as it has subschemas in a row. */
  schemaFalse: 1000,
  /** Cost of a schema times places of a configuration, up to which one is checked against the other: about a second. */
  checkProduct: 3_000_000,
  /** The same for all configurations that are checked together, those of one template or of nodes that are to run. */
  checkBudget: 10_000_000,
  /** Automaton states of all patterns of one schema. */
  schemaPatternStates: 4000,
  /** Subschemas x places of a configuration, up to which all faults are gathered. */
  gatherAllProduct: 100_000,
} as const;

const dialect = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const refused = new Set(['$ref', '$dynamicRef', '$recursiveRef', '$async']);

type Steps = readonly (string | number)[];

/**
 * Checks a schema as a manifest gives it; an empty list means that {@link configurationValidator} accepts it. `steps`
 * lead to the schema in its document and begin each issue's path.
 */
export function checkConfigurationSchema(schema: unknown, steps: Steps): Issue[] {
  const issues = new IssueList();
  const at = jsonPath(...steps);
  if (!isJsonObject(schema)) {
    issues.add(at, 'The configuration schema must be a JSON Schema object.');
    return issues.items;
  }
  const tooLarge = sizeFault(schema) ?? nestingFault(schema);
  if (tooLarge !== null) {
    issues.add(at, tooLarge);
    return issues.items;
  }
  if (schema.$schema !== undefined && !(typeof schema.$schema === 'string' && dialect.test(schema.$schema))) {
    issues.add(jsonPath(...steps, '$schema'), 'The configuration schema must be of the dialect 2020-12.');
  }
  findRefusedKeys(schema, steps, issues);
  if (!issues.isEmpty) return issues.items;
  const check = metaValidator();
  if (!check(schema)) {
    for (const error of check.errors ?? []) issues.add(...describeFault(error, schema, steps));
    return issues.items;
  }
  try {
    compile(schema, false);
  } catch (error) {
    issues.add(at, compileFault(error));
  }
  return issues.items;
}

/** The remaining budget of checks that belong together; each uses the cost of its schema times the places it meets. */
export interface CheckBudget {
  left: number;
}

export function checkBudget(): CheckBudget {
  return { left: schemaLimits.checkBudget };
}

/** Validators of schemas by a name of theirs, for the configurations of one document: all of them share one budget. */
export function configurationValidators(): (name: string, schema: unknown) => ConfigurationValidator {
  const validators = new Map<string, ConfigurationValidator>();
  const budget = checkBudget();
  return (name, schema) => {
    const validator = validators.get(name) ?? configurationValidator(schema);
    validators.set(name, validator);
    return (configuration, steps) => validator(configuration, steps, budget);
  };
}

/** Gives the issues of a configuration (empty: valid); `steps` lead to the configuration in its document. */
export type ConfigurationValidator = (configuration: unknown, steps: Steps, budget?: CheckBudget) => Issue[];

const cache = new Map<string, ConfigurationValidator>();
const cacheEntries = 100;

/**
 * The validator of a schema that {@link checkConfigurationSchema} found valid. For any other schema it finds fault with
 * every configuration. Validators are kept by the schema's text, the most recent hundred.
 */
export function configurationValidator(schema: unknown): ConfigurationValidator {
  const text = JSON.stringify(schema) ?? '';
  const known = cache.get(text);
  const validator = known ?? makeValidator(schema);
  cache.delete(text);
  cache.set(text, validator);
  if (cache.size > cacheEntries) cache.delete(cache.keys().next().value as string);
  return validator;
}

function makeValidator(schema: unknown): ConfigurationValidator {
  const first = isJsonObject(schema) ? compileUnlessAtFault(schema) : null;
  if (first === null || !isJsonObject(schema)) {
    return (_, steps) => [
      { path: jsonPath(...steps), message: 'The schema of the node template cannot be used.' },
    ];
  }
  const schemaObjects = countObjects(schema);
  const cost = schemaCost(schema);
  let gathering: ValidateFunction | undefined;
  return (configuration, steps, budget = checkBudget()) => {
    if (!isFreeJson(configuration)) {
      return [{ path: jsonPath(...steps), message: freeJsonFault }];
    }
    const places = countPlaces(configuration);
    if (cost * places > Math.min(schemaLimits.checkProduct, budget.left)) {
      return [{ path: jsonPath(...steps), message: tooMuchFault }];
    }
    budget.left -= cost * places;
    try {
      if (first(configuration)) return [];
      let failed: ValidateFunction = first;
      if (schemaObjects * places <= schemaLimits.gatherAllProduct) {
        gathering ??= compile(schema, true);
        gathering(configuration);
        failed = gathering;
      }
      const issues = new IssueList();
      for (const error of failed.errors ?? []) issues.add(...describeFault(error, configuration, steps));
      return issues.items;
    } catch (error) {
      // Compiled code of an enormous schema may need more stack than there is.
      if (!(error instanceof RangeError)) throw error;
      return [{ path: jsonPath(...steps), message: 'The schema of the node template is too complex.' }];
    }
  };
}

/** Without the meta-schema: what is stored was checked against it, and what slips through fails to compile. */
function compileUnlessAtFault(schema: JsonObject): ValidateFunction | null {
  const faults = new IssueList();
  if (sizeFault(schema) !== null) return null;
  findRefusedKeys(schema, [], faults);
  try {
    return faults.isEmpty ? compile(schema, false) : null;
  } catch {
    return null;
  }
}

const freeJsonFault = `The configuration must be an object of at most ${limits.freeJsonBytes / 1024} KB and ${limits.freeJsonDepthLevels} levels.`;

const tooMuchFault = 'The configuration is too large for the schema of the node template.';

function sizeFault(schema: JsonObject): string | null {
  if (jsonDepthLevels(schema) > schemaLimits.schemaDepthLevels) {
    return `The configuration schema may be nested at most ${schemaLimits.schemaDepthLevels} levels deep.`;
  }
  if (utf8Bytes(JSON.stringify(schema)) > schemaLimits.schemaBytes) {
    return `The configuration schema may have at most ${schemaLimits.schemaBytes / 1024} KB.`;
  }
  if (countObjects(schema) > schemaLimits.schemaObjects) {
    return `The configuration schema may have at most ${schemaLimits.schemaObjects} objects.`;
  }
  if (schemaCost(schema) > schemaLimits.schemaCost) {
    return `The configuration schema may have at most ${schemaLimits.schemaCost} values, not counting enum and const.`;
  }
  return null;
}

/**
 * Above this bound, whether a schema compiles depends on how much stack is free at that moment. Stored schemas are not
 * refused for it: earlier versions took more.
 */
function nestingFault(schema: JsonObject): string | null {
  if (countFalse(schema) <= schemaLimits.schemaFalse) return null;
  return `The configuration schema may say false at most ${schemaLimits.schemaFalse} times.`;
}

function compileFault(error: unknown): string {
  if (error instanceof PatternError) return error.message;
  return 'The configuration schema cannot be compiled.';
}

/** Depth is bounded before, so recursion is safe. */
function findRefusedKeys(value: unknown, steps: Steps, issues: IssueList): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) findRefusedKeys(item, [...steps, index], issues);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (refused.has(key)) {
        issues.add(
          jsonPath(...steps, key),
          `The configuration schema must be inline: ${key} is not allowed.`,
        );
      }
      findRefusedKeys(item, [...steps, key], issues);
    }
  }
}

/** Objects of any kind in a JSON value. */
export function countObjects(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce((sum: number, item) => sum + countObjects(item), 0);
  return inside + (Array.isArray(value) ? 0 : 1);
}

const commonOptions: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  // `required: ["toString"]` requires a key of the configuration itself.
  ownProperties: true,
  addUsedSchema: false,
  // A loop checks longer lists: code for each of their items takes too long to compile.
  loopRequired: 20,
};

let metaSchemaValidator: ValidateFunction | undefined;

function metaValidator(): ValidateFunction {
  metaSchemaValidator ??= new Ajv2020({ ...commonOptions, allErrors: false }).getSchema(
    'https://json-schema.org/draft/2020-12/schema',
  );
  if (metaSchemaValidator === undefined)
    throw new Error('The meta-schema of JSON Schema 2020-12 is missing.');
  return metaSchemaValidator;
}

/** Compiles in an instance of its own, so that neither identifiers nor memory outlive the validator. */
function compile(schema: JsonObject, allErrors: boolean): ValidateFunction {
  const patterns = new Map<string, LinearPattern>();
  let statesLeft: number = schemaLimits.schemaPatternStates;
  const regExp = (pattern: string): LinearPattern => {
    const known = patterns.get(pattern);
    if (known) return known;
    const read = readPattern(pattern, Math.min(statesLeft, patternLimits.patternStates));
    statesLeft -= read.stateCount;
    patterns.set(pattern, read);
    return read;
  };
  // Only standalone code, which is not made here, would need the text of this function.
  regExp.code = 'readPattern';
  const ajv = withLinearKeywords(
    new Ajv2020({
      ...commonOptions,
      allErrors,
      meta: false,
      validateSchema: false,
      // Better code takes twice the time to make, and each schema meets few configurations.
      code: { regExp, optimize: false },
    }),
  );
  return ajv.compile(schema);
}
