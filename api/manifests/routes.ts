/** Runner manifests (contract: Runner administration; decisions 10). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { type ManifestCheck, manifestLimits } from '../../domain/runners/manifest.ts';
import { runnerNames } from '../../domain/runners/manifest-fields.ts';
import {
  type EntrypointPlaces,
  entrypointsOf,
  manifestRuntimes,
} from '../../domain/runners/manifest-runner-types.ts';
import { nodeTemplateTypes } from '../../domain/templates/template-file.ts';
import { codedErrorSchema, errorSchema } from '../../http/errors.ts';
import { publishManifest, validateManifest } from '../../store/registry/node-templates.ts';
import { findEntrypoint } from '../../store/registry/runner-folder.ts';
import { documentIssueSchema } from '../document-issue.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { listManifests } from './list.ts';

const manifestReplySchema = z
  .object({
    published: z.boolean(),
    runnerTypes: z.array(z.string()),
    templates: z.array(z.string()),
    errors: z.array(documentIssueSchema),
    warnings: z.array(documentIssueSchema),
  })
  .meta({
    id: 'RunnerManifestReply',
    example: {
      published: true,
      runnerTypes: ['lap-tools'],
      templates: ['lap-splitter'],
      errors: [],
      warnings: [],
    },
  });

const invalidExample = {
  message: 'The manifest is not valid.',
  published: false,
  runnerTypes: ['lap-tools'],
  templates: ['lap-splitter'],
  errors: [
    { path: '$.nodeTemplates[0].maxAttempts', message: 'maxAttempts must be a whole number from 1 to 20.' },
  ],
  warnings: [],
};
/** A refused manifest, with all of its faults. */
const invalidManifestSchema = manifestReplySchema
  .extend(errorSchema.shape)
  .meta({ id: 'InvalidRunnerManifest', example: invalidExample });
/** The same, as runner routes answer it. */
const codedInvalidManifestSchema = manifestReplySchema
  .extend(codedErrorSchema.shape)
  .meta({ id: 'CodedInvalidRunnerManifest', example: { ...invalidExample, code: 'invalid_request' } });

const nameShape = {
  type: 'string',
  minLength: runnerNames.minCharacters,
  maxLength: runnerNames.maxCharacters,
  pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
};

/** Faults of the manifest are reported with paths by the handler, so the schema only describes it. */
const manifestSchema = z.unknown().meta({
  id: 'RunnerManifest',
  type: 'object',
  description:
    'What a feature registers. A higher or equal version of the same feature updates it. Every fault is answered with its JSON path.',
  required: ['manifestVersion', 'feature', 'runnerTypes'],
  properties: {
    manifestVersion: { const: 1 },
    feature: {
      type: 'object',
      required: ['name', 'version', 'ownershipType'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: manifestLimits.featureNameCharacters },
        version: { type: 'string', description: 'Compared as Semantic Versioning has it.' },
        ownershipType: { const: 'ThirdParty' },
      },
    },
    runnerTypes: {
      type: 'array',
      minItems: 1,
      maxItems: manifestLimits.manifestRunnerTypes,
      items: {
        type: 'object',
        required: ['name', 'runtime'],
        properties: {
          name: nameShape,
          runtime: { enum: manifestRuntimes, description: '`sdk`: started by the platform.' },
          entrypoint: {
            type: 'string',
            pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$',
            description:
              'Of runtime `sdk`: name of a module in the folder of deployed runners, which exports a runner by default. One that leads out of the folder is refused; one that is not there yet is worth a warning.',
          },
          description: { type: 'string', maxLength: limits.descriptionCharacters },
        },
      },
    },
    nodeTemplates: {
      type: 'array',
      maxItems: manifestLimits.manifestNodeTemplates,
      items: {
        type: 'object',
        required: ['name', 'runnerType', 'type', 'configurationSchema'],
        properties: {
          name: nameShape,
          runnerType: { ...nameShape, description: 'A runner type of this manifest.' },
          type: { enum: nodeTemplateTypes },
          description: { type: 'string', maxLength: limits.descriptionCharacters },
          configurationSchema: {
            type: 'object',
            description: 'JSON Schema 2020-12, inline: no `$ref`. Held against node configurations.',
          },
          trigger: { enum: ['all', 'any'], default: 'all', description: 'Whose outputs make the node run.' },
          incremental: { type: 'boolean', default: false },
          reprocess: { enum: ['latest', 'all'], default: 'latest' },
          maxAttempts: {
            type: 'integer',
            minimum: 1,
            maximum: limits.maxAttemptsMax,
            default: limits.maxAttemptsDefault,
          },
          timeoutSeconds: { type: 'integer', minimum: 1, maximum: manifestLimits.timeoutMaxSeconds },
          leaseSeconds: { type: 'integer', minimum: limits.leaseMinSeconds, maximum: limits.leaseMaxSeconds },
        },
      },
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

/** Null without a host: a runner of runtime `sdk` is then registered but not started, which gives a warning. */
async function placesOf(body: unknown, { settings }: Services): Promise<EntrypointPlaces> {
  const folder = settings.SDK_RUNNERS_DIR;
  if (folder === undefined) return null;
  const names = entrypointsOf(body);
  const found = await Promise.all(names.map((name) => findEntrypoint(folder, name)));
  return new Map(names.map((name, index) => [name, found[index]!.place]));
}

/** The reply's form of a check. */
function presentCheck(check: ManifestCheck, published: boolean): z.input<typeof manifestReplySchema> {
  return {
    published,
    runnerTypes: [...check.runnerTypes],
    templates: [...check.templates],
    errors: [...check.errors],
    warnings: [...check.warnings],
  };
}

const publish = defineRoute({
  id: 'publishRunnerManifest',
  method: 'POST',
  path: '/api/v2/admin/runner-manifests',
  summary: 'Publishes a runner manifest',
  description:
    'Registers runner types and node templates, all or none. Publishing the same feature again with a higher or equal version updates it; what it no longer lists is retired.',
  tags: ['Runner administration'],
  access: access.runnerManifests,
  audit: { object: 'feature' },
  body: manifestSchema,
  responses: { 200: { description: 'The manifest is published.', schema: manifestReplySchema } },
  errors: ['invalidManifest'],
  errorBodies: { invalidManifest: invalidManifestSchema },
  async handler({ body, principal, services, log }) {
    const entrypoints = await placesOf(body, services);
    const check = await publishManifest(services.database, body, {
      publishedBy: principal.userId,
      entrypoints,
    });
    if (check.manifest === null) throw new Problem('invalidManifest', { fields: presentCheck(check, false) });
    const { name, version } = check.manifest.feature;
    log.info(
      { audit: 'publishRunnerManifest', userId: principal.userId, feature: name, version },
      'a runner manifest is published',
    );
    return { status: 200, body: presentCheck(check, true) };
  },
});

const validate = defineRoute({
  id: 'validateRunnerManifest',
  method: 'POST',
  path: '/api/v2/runner/manifests/validate',
  summary: 'Checks a runner manifest and changes nothing',
  description:
    'The same checks and the same reply as publishing, with `published` false. Any scope of a runner token will do.',
  tags: ['Runner'],
  access: access.runnerAny,
  audit: { notHere: 'Reads only.' },
  body: manifestSchema,
  responses: { 200: { description: 'Nothing is wrong with the manifest.', schema: manifestReplySchema } },
  errors: ['invalidManifest'],
  errorBodies: { invalidManifest: codedInvalidManifestSchema },
  errorStyle: 'coded',
  async handler({ body, services }) {
    const check = await validateManifest(services.database, body, await placesOf(body, services));
    const reply = presentCheck(check, false);
    if (check.manifest === null) throw new Problem('invalidManifest', { fields: reply });
    return { status: 200, body: reply };
  },
});

export const manifestRoutes = [listManifests, publish, validate];
