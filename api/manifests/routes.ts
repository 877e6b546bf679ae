/** Runner manifests (contract: Runner administration; decisions 10). */
import { z } from 'zod';
import { access } from '../../domain/access.ts';
import { Problem } from '../../domain/errors.ts';
import type { ManifestCheck } from '../../domain/manifest.ts';
import { codedErrorSchema, errorSchema } from '../../http/errors.ts';
import { publishManifest, validateManifest } from '../../store/node-templates.ts';
import { documentIssueSchema } from '../document-issue.ts';
import { defineRoute } from '../route.ts';

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

/** What is wrong with the manifest is said with paths, so the schema only describes it. */
const manifestSchema = z.unknown().meta({
  id: 'RunnerManifest',
  type: 'object',
  description:
    'manifestVersion 1; feature (name, version, ownershipType ThirdParty); runnerTypes (name, runtime sdk or external, entrypoint, description); nodeTemplates (name, runnerType, type, description, configurationSchema, trigger, incremental, reprocess, maxAttempts, timeoutSeconds, leaseSeconds).',
});

/** The host of deployed runners is not part of the platform yet. */
const sdkHostIsOn = false;

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
  body: manifestSchema,
  responses: { 200: { description: 'The manifest is published.', schema: manifestReplySchema } },
  errors: ['invalidManifest'],
  errorBodies: { invalidManifest: invalidManifestSchema },
  async handler({ body, principal, services }) {
    const options = { publishedBy: principal.userId, sdkHostIsOn };
    const check = await publishManifest(services.database, body, options);
    if (check.manifest === null) throw new Problem('invalidManifest', { fields: presentCheck(check, false) });
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
  body: manifestSchema,
  responses: { 200: { description: 'Nothing is wrong with the manifest.', schema: manifestReplySchema } },
  errors: ['invalidManifest'],
  errorBodies: { invalidManifest: codedInvalidManifestSchema },
  errorStyle: 'coded',
  async handler({ body, services }) {
    const check = await validateManifest(services.database, body, sdkHostIsOn);
    const reply = presentCheck(check, false);
    if (check.manifest === null) throw new Problem('invalidManifest', { fields: reply });
    return { status: 200, body: reply };
  },
});

export const manifestRoutes = [publish, validate];
