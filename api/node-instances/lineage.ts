/** Where an output comes from: inputs, configuration, template, runner, attempt, checksum. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import { findLineage, nodeNames, type OutputLineage } from '../../store/outputs/lineage.ts';
import { defineRoute } from '../route.ts';
import { nodeOutputParams } from './schema.ts';

const lineageSchema = z
  .object({
    outputId: z.int(),
    outputIdentifier: z.string(),
    sessionId: z.guid(),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable(),
    createdAt: timestampOut(),
    configuration: z.string().meta({
      description: 'Configuration of the node when the output was written; a JSON document as text.',
    }),
    configurationRevision: z.int().meta({ description: 'The revision of the configuration.' }),
    nodeTemplate: z.object({
      name: z.string(),
      runnerType: z.string(),
      feature: z.string().nullable(),
      featureVersion: z.string().nullable(),
    }),
    source: z.enum(['upload', 'run']).meta({ description: 'An upload has no run, no runner and no inputs.' }),
    run: z
      .object({
        id: z.guid(),
        reason: z.string(),
        attempt: z.int(),
        maxAttempts: z.int(),
        outcome: z.string().nullable(),
        endedAt: timestampOut().nullable(),
      })
      .nullable(),
    isRecorded: z.boolean().meta({
      description:
        'Runner and inputs are recorded when the run completes. False for an output published with a watermark while its ' +
        'run is open, or when its run did not complete.',
    }),
    runner: z
      .object({
        kind: z.enum(['runner', 'account', 'built-in']),
        instanceId: z.string(),
        label: z.string().nullable(),
        version: z.string().nullable(),
      })
      .nullable(),
    inputs: z.array(
      z.object({
        outputId: z.int(),
        nodeInstanceId: z.int(),
        nodeName: z.string(),
        outputIdentifier: z.string(),
        sizeBytes: z.int(),
        sha256: z.string().nullable(),
        isNew: z.boolean().meta({
          description: "True: first consumed by this run. False: the parent's newest output at that time.",
        }),
      }),
    ),
  })
  .meta({
    id: 'OutputLineage',
    example: {
      outputId: 502,
      outputIdentifier: 'recording-1',
      sessionId: exampleValues.sessionId,
      nodeInstanceId: exampleValues.nodeId,
      nodeName: 'tabular-autodetect',
      sizeBytes: 19_204,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      createdAt: exampleValues.processedAt,
      configuration: '{"inputFormat":"auto"}',
      configurationRevision: 1,
      nodeTemplate: {
        name: 'system-tabular-to-dataservice',
        runnerType: 'system',
        feature: null,
        featureVersion: null,
      },
      source: 'run',
      run: {
        id: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
        reason: 'input',
        attempt: 1,
        maxAttempts: 3,
        outcome: 'completed',
        endedAt: exampleValues.processedAt,
      },
      isRecorded: true,
      runner: { kind: 'built-in', instanceId: 'builtin', label: null, version: null },
      inputs: [
        {
          outputId: exampleValues.outputId,
          nodeInstanceId: exampleValues.inputNodeId,
          nodeName: 'tabular-upload',
          outputIdentifier: 'lap-12',
          sizeBytes: 39,
          sha256: '2a584f50100491dca3b17100c00e41709b2820aec8add14a75469438ac1aa139',
          isNew: true,
        },
      ],
    },
  });

export const outputLineage = defineRoute({
  id: 'getOutputLineage',
  method: 'GET',
  path: '/api/v2/node-instance/outputs/{nodeOutputId}/lineage',
  summary: 'Returns the lineage of an output',
  description:
    'Recorded when the run completed, with the checksums of that moment. The first 1,000 new inputs are listed.',
  tags: ['Node outputs'],
  access: access.outputRead,
  params: nodeOutputParams,
  responses: { 200: { description: 'The lineage.', schema: lineageSchema } },
  errors: ['nodeOutputNotFound'],
  refusals: { params: 'nodeOutputNotFound' },
  async handler({ params, services }) {
    const found = await findLineage(services.database, params.nodeOutputId);
    if (found === undefined) throw new Problem('nodeOutputNotFound');
    const inputs = found.run?.lineage?.inputs ?? [];
    const ids = new Set(inputs.map(({ nodeInstanceId }) => nodeInstanceId));
    return { status: 200, body: present(found, await nodeNames(services.database, [...ids])) };
  },
});

function present(
  { run, nodeTemplate, runnerType, createdAt, ...output }: OutputLineage,
  names: ReadonlyMap<number, string>,
): z.input<typeof lineageSchema> {
  const recorded = run?.lineage ?? null;
  const shownRun = run && {
    id: run.id,
    reason: run.reason,
    attempt: run.attempt,
    maxAttempts: run.maxAttempts,
    outcome: run.outcome,
    endedAt: formatTimestampOrNull(run.endedAt),
  };
  return {
    ...output,
    createdAt: formatTimestamp(createdAt),
    nodeTemplate: recorded?.nodeTemplate ?? {
      name: nodeTemplate,
      runnerType,
      feature: null,
      featureVersion: null,
    },
    source: run === null ? 'upload' : 'run',
    run: shownRun,
    isRecorded: run === null || recorded !== null,
    runner: recorded?.runner ?? null,
    inputs: (recorded?.inputs ?? []).map((input) => ({
      ...input,
      nodeName: names.get(input.nodeInstanceId) ?? '',
    })),
  };
}
