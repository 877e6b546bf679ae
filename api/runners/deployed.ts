/** Processes of deployed runners as operators see them (decisions 10). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { deployedStates } from '../../domain/runners/runner-host.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import type { DeployedRunnerView } from '../../store/runners/deployed-runners.ts';
import { runnerExampleValues } from '../runner-examples.ts';

/** Processes in one reply. */
export const maxDeployed = 5_000;

const processSchema = z.object({
  number: z.int().meta({ description: 'Number of the process within its runner type, from 1.' }),
  state: z.enum([...deployedStates, 'silent']).meta({
    description:
      '`running`: claims tasks; `waiting`: down, will be restarted; `silent`: its host has not reported it for ' +
      'too long, and another host replaces it.',
  }),
  message: z.string().meta({ description: 'Reason for the state; may be empty.' }),
  starts: z.int().meta({ description: 'Number of starts by its host.' }),
  changedAt: timestampOut(),
  tokenId: z.guid().nullable().meta({ description: 'Its runner token.' }),
});

export const deployedSchema = z
  .object({
    runnerType: z.string(),
    entrypoint: z
      .string()
      .nullable()
      .meta({ description: 'Null: the manifest names no module, so nothing is started.' }),
    processes: z.array(processSchema).meta({
      description: 'Empty while no host runs it: the host is off, full, or not yet updated.',
    }),
  })
  .meta({ id: 'DeployedRunner' });

export const deployedExample: z.input<typeof deployedSchema> = {
  runnerType: 'lap-reports',
  entrypoint: 'lap-reports.ts',
  processes: [
    {
      number: 1,
      state: 'running',
      message: '',
      starts: 1,
      changedAt: exampleValues.startedAt,
      tokenId: runnerExampleValues.tokenId,
    },
  ],
};

/** @param rows by runner type */
export function presentDeployed(rows: readonly DeployedRunnerView[]): z.input<typeof deployedSchema>[] {
  const byType = new Map<string, z.input<typeof deployedSchema>>();
  for (const {
    runnerType,
    entrypoint,
    number,
    state,
    message,
    starts,
    changedAt,
    tokenId,
    isSilent,
  } of rows) {
    const shown = byType.get(runnerType) ?? { runnerType, entrypoint, processes: [] };
    byType.set(runnerType, shown);
    if (number === null) continue;
    shown.processes.push({
      number,
      state: isSilent ? 'silent' : state,
      message,
      starts,
      changedAt: formatTimestamp(changedAt),
      tokenId,
    });
  }
  return [...byType.values()];
}
