/**
 * Runner manifests (contract: Manifest checks; decisions 10): what a feature registers, and what is checked before.
 * A node template or runner type stays with the feature that registered it first.
 */

import { type Issue, IssueList, jsonPath, quote } from '../issue.ts';
import { limits } from '../limits.ts';
import { isSameJson } from '../same-json.ts';
import { countObjects } from '../templates/configuration-schema.ts';
import { schemaCost } from '../templates/schema-cost.ts';
import { type NodeTemplateType, nodeTemplateTypes } from '../templates/template-file.ts';
import { isJsonObject, isName, type JsonObject } from '../text.ts';
import { compareVersions, parseVersion } from '../version.ts';
import type { Concurrency } from './concurrency.ts';
import { Fields, warnOfUnknown } from './manifest-fields.ts';
import {
  type EntrypointPlaces,
  type ManifestRunnerType,
  maxRunnerTypes,
  readRunnerType,
} from './manifest-runner-types.ts';

export const manifestLimits = {
  manifestRunnerTypes: maxRunnerTypes,
  manifestNodeTemplates: 500,
  featureNameCharacters: 64,
  /** Objects in all schemas of one manifest. */
  schemaObjects: 5000,
  /** The cost of all schemas together: see `schema-cost.ts`. */
  schemaCost: 30_000,
  timeoutMaxSeconds: 30 * 24 * 3600,
} as const;

interface ManifestNodeTemplate {
  readonly name: string;
  readonly runnerType: string;
  readonly type: NodeTemplateType;
  readonly description: string;
  readonly configurationSchema: JsonObject;
  readonly trigger: 'all' | 'any';
  readonly incremental: boolean;
  readonly reprocess: 'latest' | 'all';
  readonly maxAttempts: number;
  readonly timeoutSeconds: number | null;
  readonly leaseSeconds: number | null;
  readonly concurrency?: Concurrency;
}

export interface Manifest {
  readonly feature: { readonly name: string; readonly version: string };
  readonly runnerTypes: readonly ManifestRunnerType[];
  readonly nodeTemplates: readonly ManifestNodeTemplate[];
}

/** What is registered already. `featureName` null: the platform's own. */
export interface Registered {
  /** The feature's manifest as it is published, null when it is new. */
  readonly manifest: unknown;
  /** Version of the manifest's feature, null when it is new. */
  readonly featureVersion: string | null;
  readonly runnerTypes: ReadonlyMap<
    string,
    { readonly featureName: string | null; readonly retired: boolean }
  >;
  readonly nodeTemplates: ReadonlyMap<
    string,
    { readonly featureName: string | null; readonly type: NodeTemplateType; readonly retired: boolean }
  >;
}

export interface ManifestCheck {
  /** Null when there are errors. */
  readonly manifest: Manifest | null;
  /** Names as far as they could be read, for the reply. */
  readonly runnerTypes: readonly string[];
  readonly templates: readonly string[];
  readonly errors: readonly Issue[];
  readonly warnings: readonly Issue[];
}

/** The feature's name as far as it can be read: for loading what is registered before the check. */
export function featureNameOf(manifest: unknown): string | null {
  const feature = isJsonObject(manifest) ? manifest.feature : undefined;
  const name = isJsonObject(feature) ? feature.name : undefined;
  return typeof name === 'string' && isName(name, manifestLimits.featureNameCharacters) ? name.trim() : null;
}

/** @param entrypoints of `entrypointsOf`; one without a place counts as missing */
export function checkManifest(
  manifest: unknown,
  registered: Registered,
  entrypoints: EntrypointPlaces,
): ManifestCheck {
  const errors = new IssueList();
  const warnings = new IssueList();
  const refused = (path: string, fault: string): ManifestCheck => {
    errors.add(path, fault);
    return { manifest: null, runnerTypes: [], templates: [], errors: errors.items, warnings: warnings.items };
  };
  if (!isJsonObject(manifest)) return refused('$', 'The manifest must be a JSON object.');
  if (manifest.manifestVersion !== 1) errors.add('$.manifestVersion', 'manifestVersion must be 1.');
  const known = ['$schema', 'manifestVersion', 'feature', 'runnerTypes', 'nodeTemplates'];
  warnOfUnknown(manifest, [], known, warnings);
  warnOfUnknown(manifest.feature, ['feature'], ['name', 'version', 'ownershipType'], warnings);
  const feature = checkFeature(manifest.feature, registered, errors);
  const runnerTypes = items(manifest, 'runnerTypes', 1, manifestLimits.manifestRunnerTypes, errors).map(
    (item, index) => readRunnerType(item, ['runnerTypes', index], errors, warnings, entrypoints),
  );
  const runnerTypeNames = new Set(runnerTypes.map((item) => item.name));
  const tooMuch = sizeFault(manifest.nodeTemplates);
  if (tooMuch !== null) return refused('$.nodeTemplates', tooMuch);
  const nodeTemplates = items(manifest, 'nodeTemplates', 0, manifestLimits.manifestNodeTemplates, errors).map(
    (item, index) => {
      warnOfUnknown(item, ['nodeTemplates', index], nodeTemplateFields, warnings);
      return readNodeTemplate(item, ['nodeTemplates', index], runnerTypeNames, errors, warnings);
    },
  );
  const all = { feature, runnerTypes, nodeTemplates };
  compareWithRegistered(all, manifest.nodeTemplates, registered, { errors, warnings });
  return {
    manifest: errors.isEmpty ? all : null,
    runnerTypes: runnerTypes.map((item) => item.name).filter((name) => name !== ''),
    templates: nodeTemplates.map((item) => item.name).filter((name) => name !== ''),
    errors: errors.items,
    warnings: warnings.items,
  };
}

/** @param written the node templates as they stand in the manifest */
function compareWithRegistered(
  manifest: Manifest,
  written: unknown,
  registered: Registered,
  { errors, warnings }: Readonly<Record<'errors' | 'warnings', IssueList>>,
): void {
  const { runnerTypes, nodeTemplates } = manifest;
  const lists: readonly OwnedList[] = [
    { key: 'runnerTypes', kind: 'Runner type', listed: runnerTypes, known: registered.runnerTypes },
    { key: 'nodeTemplates', kind: 'Node template', listed: nodeTemplates, known: registered.nodeTemplates },
  ];
  for (const list of lists) {
    checkOwners(list, manifest.feature.name, errors);
    warnOfRetired(list, manifest.feature.name, warnings);
  }
  checkTypeChanges(written, nodeTemplates, registered, errors);
  if (errors.isEmpty) warnOfSameVersion(manifest, registered, warnings);
}

/** Each schema is compiled when it is checked, so all of them together are bounded. */
function sizeFault(nodeTemplates: unknown): string | null {
  if (countObjects(nodeTemplates) > manifestLimits.schemaObjects) {
    return `All node templates together may have at most ${manifestLimits.schemaObjects} objects.`;
  }
  const items = Array.isArray(nodeTemplates) ? nodeTemplates : [];
  const schemas = items.map((item) => (isJsonObject(item) ? item.configurationSchema : undefined));
  return schemas.reduce((sum: number, schema) => sum + schemaCost(schema), 0) > manifestLimits.schemaCost
    ? `All configuration schemas together may have at most ${manifestLimits.schemaCost} values, not counting enum and const.`
    : null;
}

function checkFeature(value: unknown, registered: Registered, errors: IssueList): Manifest['feature'] {
  const feature = isJsonObject(value) ? value : {};
  if (!isJsonObject(value)) errors.add('$.feature', 'feature must be an object.');
  const name = featureNameOf({ feature });
  if (name === null) {
    errors.add(
      '$.feature.name',
      `The feature's name must be text of 1 to ${manifestLimits.featureNameCharacters} characters.`,
    );
  }
  const version = typeof feature.version === 'string' ? parseVersion(feature.version) : null;
  const before = registered.featureVersion === null ? null : parseVersion(registered.featureVersion);
  if (version === null) errors.add('$.feature.version', 'The version must be like 1.2.3 or 1.2.3-beta.1.');
  else if (before !== null && compareVersions(version, before) < 0) {
    errors.add('$.feature.version', `The version is below the published ${registered.featureVersion}.`);
  }
  if (feature.ownershipType !== 'ThirdParty') {
    errors.add('$.feature.ownershipType', "The feature's ownershipType must be 'ThirdParty'.");
  }
  return { name: name ?? '', version: typeof feature.version === 'string' ? feature.version : '' };
}

function items(manifest: JsonObject, key: string, least: number, most: number, errors: IssueList): unknown[] {
  const value = manifest[key] === undefined ? [] : manifest[key];
  if (Array.isArray(value) && value.length >= least && value.length <= most) return value;
  errors.add(jsonPath(key), `${key} must be a list of ${least} to ${most} items.`);
  return [];
}

type Steps = readonly (string | number)[];

const nodeTemplateFields = (
  'name runnerType type description configurationSchema trigger incremental reprocess maxAttempts ' +
  'timeoutSeconds leaseSeconds concurrency'
).split(' ');

function readNodeTemplate(
  item: unknown,
  steps: Steps,
  runnerTypeNames: ReadonlySet<string>,
  errors: IssueList,
  warnings: IssueList,
): ManifestNodeTemplate {
  const fields = new Fields(item, steps, errors);
  const name = fields.name('name');
  const runnerType = fields.name('runnerType');
  if (runnerType !== '' && !runnerTypeNames.has(runnerType)) {
    fields.fault('runnerType', `The manifest has no runner type ${quote(runnerType)}.`);
  }
  const concurrency = fields.concurrency(warnings);
  return {
    name,
    runnerType,
    type: fields.oneOf('type', nodeTemplateTypes),
    description: fields.description(),
    configurationSchema: fields.schema('configurationSchema'),
    trigger: fields.oneOf('trigger', ['all', 'any'], 'all'),
    incremental: fields.flag('incremental'),
    reprocess: fields.oneOf('reprocess', ['latest', 'all'], 'latest'),
    maxAttempts: fields.integer('maxAttempts', 1, limits.maxAttemptsMax, limits.maxAttemptsDefault),
    timeoutSeconds: fields.integer('timeoutSeconds', 1, manifestLimits.timeoutMaxSeconds, null),
    leaseSeconds: fields.integer('leaseSeconds', limits.leaseMinSeconds, limits.leaseMaxSeconds, null),
    ...(concurrency && { concurrency }),
  };
}

/** Items of a manifest whose names belong to one feature each. */
interface OwnedList {
  readonly key: string;
  readonly kind: string;
  readonly listed: readonly { readonly name: string }[];
  /** All that are registered, by name. */
  readonly known: ReadonlyMap<string, { readonly featureName: string | null; readonly retired: boolean }>;
}

function checkOwners({ key, kind, listed, known }: OwnedList, featureName: string, errors: IssueList): void {
  const seen = new Set<string>();
  for (const [index, { name }] of listed.entries()) {
    if (name === '') continue;
    const path = jsonPath(key, index, 'name');
    const owner = known.get(name);
    if (seen.has(name)) errors.add(path, `${kind} ${quote(name)} is listed twice.`);
    seen.add(name);
    if (owner !== undefined && owner.featureName !== featureName) {
      errors.add(
        path,
        `${kind} ${quote(name)} is registered by ${owner.featureName === null ? 'the platform' : 'another feature'}.`,
      );
    }
  }
}

/** Stored graphs depend on which nodes are Input nodes. */
function checkTypeChanges(
  listed: unknown,
  nodeTemplates: readonly ManifestNodeTemplate[],
  registered: Registered,
  errors: IssueList,
): void {
  for (const [index, { name, type }] of nodeTemplates.entries()) {
    const before = registered.nodeTemplates.get(name);
    // One that is no type at all has its fault already.
    const isOne = Array.isArray(listed) && isJsonObject(listed[index]) && listed[index].type === type;
    if (isOne && before !== undefined && (before.type === 'Input') !== (type === 'Input')) {
      errors.add(
        jsonPath('nodeTemplates', index, 'type'),
        `The type of ${quote(name)} is ${before.type} and cannot become ${type}.`,
      );
    }
  }
}

/** Readers of a version must be able to rely on its content. */
function warnOfSameVersion(manifest: Manifest, registered: Registered, warnings: IssueList): void {
  const { version } = manifest.feature;
  if (version !== registered.featureVersion || isSameJson(manifest, registered.manifest)) return;
  warnings.add(
    '$.feature.version',
    `Version ${version} is already published with other contents; they are replaced.`,
  );
}

function warnOfRetired(
  { key, kind, listed, known }: OwnedList,
  featureName: string,
  warnings: IssueList,
): void {
  const names = new Set(listed.map(({ name }) => name));
  for (const [name, item] of known) {
    if (item.featureName === featureName && featureName !== '' && !item.retired && !names.has(name)) {
      warnings.add(jsonPath(key), `${kind} ${quote(name)} is no longer listed and is retired.`);
    }
  }
}
