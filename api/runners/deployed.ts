/** Processes of deployed runners as operators see them (decisions 10). */
import { z } from 'zod';
import { story } from '../../domain/examples.ts';
import { deployedStates } from '../../domain/runners/runner-host.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import type { DeployedRunnerView } from '../../store/runners/deployed-runners.ts';
import { runnerStory } from '../runner/examples.ts';

/** Processes in one reply. */
export const mostDeployed = 5_000;

const processSchema = z.object({
  number: z.int().meta({ description: 'From 1, where a runner type has several processes.' }),
  state: z.enum([...deployedStates, 'silent']).meta({
    description:
      '`running`: takes tasks; `waiting`: down, and started again by itself; `silent`: its host has not told of it for ' +
      'longer than it should, and another takes over.',
  }),
  message: z.string().meta({ description: 'Why it is in this state; empty where there is nothing to say.' }),
  starts: z.int().meta({ description: 'How often its host has started it.' }),
  changedAt: timestampOut(),
  tokenId: z.guid().nullable().meta({ description: 'What it calls with.' }),
});

export const deployedSchema = z
  .object({
    runnerType: z.string(),
    entrypoint: z
      .string()
      .nullable()
      .meta({ description: 'Null: the manifest names none, so nothing is started.' }),
    processes: z.array(processSchema).meta({
      description: 'Empty while no host keeps it: it is off, full, or has not looked yet.',
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
      changedAt: story.startedAt,
      tokenId: runnerStory.tokenId,
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
