/** Ids, names and times that the examples of the runner routes share; they continue the story of the others. */
import { exampleValues } from '../domain/examples.ts';

const now = '2026-03-01T10:04:10.120Z';

export const runnerExampleValues = {
  instanceId: 'lap-runner-1',
  taskId: '0198f2b8-2f40-7a15-8c3e-6d0b9e51c7a2',
  runId: '0198f2b8-2e07-7b90-9d11-04a7c2f3e865',
  tokenId: '0198ee10-5b1c-7f02-8a6d-93e4b7c01d58',
  handle: '0198f2b8-7c66-7d2b-a0f4-1b8e5d3c9072',
  template: 'lap-splitter',
  runnerType: 'lap-tools',
  nodeId: exampleValues.nodeId,
  inputNodeId: exampleValues.inputNodeId,
  inputNodeName: 'tabular-upload',
  inputId: exampleValues.outputId,
  outputId: 502,
  outputIdentifier: 'laps-1.parquet',
  sha256: '2a584f50100491dcf8b17100c00e41709b2820aec8adc14a7546943a2ab00a91',
  claimedAt: now,
  leaseExpiresAt: '2026-03-01T10:04:40.120Z',
  writtenAt: exampleValues.processedAt,
} as const;
