/** The form of a manifest, with the meaning of every field: it is in the interface document and on a page of its own. */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { runnerNames } from '../../domain/runner-name.ts';
import { concurrencyMax } from '../../domain/runners/concurrency.ts';
import { manifestLimits } from '../../domain/runners/manifest.ts';
import { manifestRuntimes } from '../../domain/runners/manifest-runner-types.ts';
import { schemaLimits } from '../../domain/templates/configuration-schema.ts';
import { nodeTemplateTypes } from '../../domain/templates/template-file.ts';

const nameShape = {
  type: 'string',
  minLength: runnerNames.minCharacters,
  maxLength: runnerNames.maxCharacters,
  pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
};
const description = {
  type: 'string',
  maxLength: limits.descriptionCharacters,
  default: '',
  description: 'A text for people.',
};
const concurrency = {
  type: 'object',
  description:
    'How many of its tasks may be held at once, over all runners: in all, of one project, of one session. Without it, any number. Operators may choose other values.',
  required: ['max'],
  properties: Object.fromEntries(
    [
      ['max', 'In all.'],
      ['perProject', 'Tasks of the sessions of one project.'],
      ['perSession', 'Tasks of one session.'],
    ].map(([key, description]) => [
      key,
      { type: 'integer', minimum: 1, maximum: concurrencyMax, description },
    ]),
  ),
};
const ownName =
  'Unique on the platform: the name belongs to the feature that registered it first. It does not change later.';

const featureShape = {
  type: 'object',
  description: 'The product that the runners belong to.',
  required: ['name', 'version', 'ownershipType'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: manifestLimits.featureNameCharacters,
      description: 'Manifests with the same name update the same feature.',
    },
    version: {
      type: 'string',
      description:
        'Like `1.2.3` or `1.2.3-beta.1`, compared by Semantic Versioning. It must not be below the published one.',
    },
    ownershipType: { const: 'ThirdParty', description: 'Other values belong to the platform.' },
  },
};

const runnerTypeShape = {
  type: 'object',
  required: ['name', 'runtime'],
  properties: {
    name: { ...nameShape, description: ownName },
    runtime: {
      enum: manifestRuntimes,
      description: '`external`: you start the program. `sdk`: the platform starts it.',
    },
    entrypoint: {
      type: 'string',
      pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$',
      description:
        'For runtime `sdk`: a module in the folder of deployed runners whose default export is a runner. A path outside the folder is refused; a missing module is a warning.',
    },
    description,
    concurrency,
  },
};

const nodeTemplateShape = {
  type: 'object',
  required: ['name', 'runnerType', 'type', 'configurationSchema'],
  properties: {
    name: { ...nameShape, description: ownName },
    runnerType: {
      ...nameShape,
      description: 'A runner type of this manifest, whose runners work on its nodes.',
    },
    type: {
      enum: nodeTemplateTypes,
      description:
        'The kind, as people see it. Nodes of type `Input` have no parents and get uploads instead of tasks; the type cannot become `Input` later, or another one from it.',
    },
    description,
    configurationSchema: {
      type: 'object',
      description: `JSON Schema 2020-12, inline: no \`$ref\`, at most ${schemaLimits.schemaBytes / 1024} KB and ${schemaLimits.schemaObjects} objects. It validates the configurations of nodes, and the console makes a form of it.`,
    },
    trigger: {
      enum: ['all', 'any'],
      default: 'all',
      description:
        'With several parents: whether all of them, or any one, must have an output before the first run.',
    },
    incremental: {
      type: 'boolean',
      default: false,
      description:
        'A task gets only the inputs that the node has not consumed. The runner moves the watermark past each, which publishes what it wrote before.',
    },
    reprocess: {
      enum: ['latest', 'all'],
      default: 'latest',
      description: 'The inputs of a reprocess: the newest of each parent, or all.',
    },
    maxAttempts: {
      type: 'integer',
      minimum: 1,
      maximum: limits.maxAttemptsMax,
      default: limits.maxAttemptsDefault,
      description:
        'Attempts of a run. A lost lease counts as an attempt, a release does not. A failure of category `validation` is never retried.',
    },
    timeoutSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: manifestLimits.timeoutMaxSeconds,
      description:
        'The longest time of one attempt, which then fails with category `timeout`. Without it an attempt may take any time.',
    },
    leaseSeconds: {
      type: 'integer',
      minimum: limits.leaseMinSeconds,
      maximum: limits.leaseMaxSeconds,
      default: limits.leaseSeconds,
      description:
        'A task is given to another runner when its own was silent for this time. The kits send a heartbeat three times as often.',
    },
    concurrency,
  },
};

/** Faults of the manifest are reported with paths by the handler, so the schema only describes it. */
export const manifestSchema = z.unknown().meta({
  id: 'RunnerManifest',
  type: 'object',
  description:
    'What a feature registers. The same or a higher version updates the feature. Every fault is reported with its JSON path.',
  required: ['manifestVersion', 'feature', 'runnerTypes'],
  properties: {
    manifestVersion: { const: 1, description: 'The form of this document.' },
    feature: featureShape,
    runnerTypes: {
      type: 'array',
      minItems: 1,
      maxItems: manifestLimits.manifestRunnerTypes,
      description: 'The programs. A runner token covers the tasks of one or more runner types.',
      items: runnerTypeShape,
    },
    nodeTemplates: {
      type: 'array',
      maxItems: manifestLimits.manifestNodeTemplates,
      default: [],
      description:
        'The kinds of node that graphs may use. One that is no longer listed is retired: present sessions go on with it, and new session templates cannot use it.',
      items: nodeTemplateShape,
    },
  },
  example: {
    manifestVersion: 1,
    feature: { name: 'lap-tools', version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name: 'lap-tools', runtime: 'external' }],
    nodeTemplates: [
      {
        name: 'lap-splitter',
        runnerType: 'lap-tools',
        type: 'Transform',
        configurationSchema: { type: 'object', properties: { gate: { type: 'number' } } },
        incremental: true,
      },
    ],
  },
});
