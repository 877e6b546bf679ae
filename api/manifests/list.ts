/** Published manifests, as operators see them (contract: Runner administration; decisions 10). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { type Manifest, manifestLimits } from '../../domain/runners/manifest.ts';
import { manifestRuntimes } from '../../domain/runners/manifest-runner-types.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import { listFeatures } from '../../store/registry/features.ts';
import { defineRoute } from '../route.ts';

/** Features in one reply. */
const maxFeatures = 1_000;

const retired = () =>
  z.boolean().meta({ description: 'No longer in the manifest; kept for the sessions that use it.' });

const featureSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    publishedAt: timestampOut(),
    runnerTypes: z.array(
      z.object({
        name: z.string(),
        runtime: z.enum(manifestRuntimes),
        entrypoint: z.string().nullable(),
        description: z.string(),
        retired: retired(),
      }),
    ),
    nodeTemplates: z.array(
      z.object({
        name: z.string(),
        runnerType: z.string(),
        type: z.string(),
        description: z.string(),
        retired: retired(),
      }),
    ),
    manifest: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'The manifest in a form that can be published again. Only for the feature of the query, else null.',
    }),
  })
  .meta({
    id: 'PublishedFeature',
    example: {
      name: 'lap-tools',
      version: '1.0.0',
      publishedAt: exampleValues.startedAt,
      runnerTypes: [
        { name: 'lap-tools', runtime: 'external', entrypoint: null, description: '', retired: false },
      ],
      nodeTemplates: [
        {
          name: 'lap-splitter',
          runnerType: 'lap-tools',
          type: 'Transform',
          description: '',
          retired: false,
        },
      ],
      manifest: null,
    },
  });

/** A stored manifest in the form for publishing it again: absent fields are left out. */
function writtenManifest({ feature, runnerTypes, nodeTemplates }: Manifest): Record<string, unknown> {
  return {
    manifestVersion: 1,
    feature: { ...feature, ownershipType: 'ThirdParty' },
    runnerTypes: runnerTypes.map(withoutNulls),
    nodeTemplates: nodeTemplates.map(withoutNulls),
  };
}

function withoutNulls(item: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

export const listManifests = defineRoute({
  id: 'listRunnerManifests',
  method: 'GET',
  path: '/api/v2/admin/runner-manifests',
  summary: 'Lists the features that have published a manifest, by name',
  description: `With their runner types and node templates, retired ones last; at most ${maxFeatures} features. Built-in features are not listed.`,
  tags: ['Runner administration'],
  access: access.runnerManifests,
  query: z.object({
    feature: z
      .string()
      .max(manifestLimits.featureNameCharacters)
      .optional()
      .meta({ description: 'Also return the manifest of this feature.', example: 'lap-tools' }),
  }),
  responses: { 200: { description: 'The features.', schema: z.array(featureSchema) } },
  async handler({ query, services }) {
    const rows = await listFeatures(services.database, maxFeatures, query.feature ?? null);
    return {
      status: 200,
      body: rows.map(({ publishedAt, runnerTypes, nodeTemplates, manifest, ...row }) => ({
        ...row,
        publishedAt: formatTimestamp(publishedAt),
        runnerTypes: [...runnerTypes],
        nodeTemplates: [...nodeTemplates],
        manifest: manifest === null ? null : writtenManifest(manifest),
      })),
    };
  },
});
