/** Runner manifests (contract: Runner administration; decisions 10). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import type { ManifestCheck } from '../../domain/runners/manifest.ts';
import { type EntrypointPlaces, entrypointsOf } from '../../domain/runners/manifest-runner-types.ts';
import { codedErrorSchema, errorSchema } from '../../http/errors.ts';
import { publishManifest, validateManifest } from '../../store/registry/node-templates.ts';
import { findEntrypoint } from '../../store/registry/runner-folder.ts';
import { documentIssueSchema } from '../document-issue.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { listManifests } from './list.ts';
import { manifestSchema } from './schema.ts';

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
    'Registers runner types and node templates, all or none. The same or a higher version updates the feature. Names that it no longer lists are retired.',
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
      'runner manifest published',
    );
    return { status: 200, body: presentCheck(check, true) };
  },
});

const validate = defineRoute({
  id: 'validateRunnerManifest',
  method: 'POST',
  path: '/api/v2/runner/manifests/validate',
  summary: 'Validates a runner manifest without publishing it',
  description:
    'The same checks and response as publishing, with `published` false. A runner token needs no particular scope.',
  tags: ['Runner'],
  access: access.runnerAny,
  audit: { notHere: 'Read-only.' },
  body: manifestSchema,
  responses: { 200: { description: 'The manifest is valid.', schema: manifestReplySchema } },
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
