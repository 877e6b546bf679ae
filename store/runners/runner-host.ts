/** What the API does for a host of deployed runners, which reaches the database through it alone. */
import { limits } from '../../domain/limits.ts';
import {
  type HostPlan,
  type HostReport,
  type ProcessEnds,
  type ProcessKey,
  type ProcessStart,
  type ProcessStartReply,
  processKeyText,
} from '../../domain/runners/runner-host.ts';
import type { Database } from '../connection/database.ts';
import type { SecretBox } from '../objects/secrets.ts';
import {
  acquireProcesses,
  assignToken,
  describeHeld,
  findToken,
  isTokenGood,
  listDeployable,
  listProcesses,
  loseTasks,
  releaseProcesses,
  removeAbandoned,
  saveProcesses,
} from './deployed-runners.ts';
import { newTokenValue } from './runner-token-value.ts';

/** Renews what a host holds, and acquires free processes for it. */
export async function reconcileHost(database: Database, report: HostReport): Promise<HostPlan> {
  const { hostId, processes, processesPerType, silentSeconds } = report;
  // First, and in its own transaction: the lease must be renewed in time.
  await saveProcesses(database, hostId, processes);
  const { acquired, isFull } = await acquireFree(database, report);
  await removeAbandoned(database, processesPerType);
  return {
    processes: await describeHeld(database, hostId, [...processes, ...acquired], silentSeconds),
    isFull,
  };
}

async function acquireFree(
  database: Database,
  { hostId, processes, processesPerType, room }: HostReport,
): Promise<{ readonly acquired: ProcessKey[]; readonly isFull: boolean }> {
  const wanted = await listDeployable(database);
  const held = new Set([...(await listProcesses(database)), ...processes].map(processKeyText));
  const numbers = Array.from({ length: processesPerType }, (_, index) => index + 1);
  const free = numbers
    .flatMap((number) => wanted.map((runner) => ({ ...runner, number })))
    .filter((plan) => !held.has(processKeyText(plan)));
  const next = free.slice(0, Math.min(room, limits.deployedChangesPerCall));
  return { acquired: await acquireProcesses(database, hostId, next), isFull: free.length > room };
}

/**
 * The token for the next start of a process: the one that its host has, while that is good, so that the process keeps
 * its identity; else a new one. Tasks that the previous process held are lost.
 */
export async function startProcess(
  database: Database,
  secrets: SecretBox,
  start: ProcessStart,
): Promise<ProcessStartReply> {
  const { hostId, tokenId } = start;
  const current = await findToken(database, hostId, start);
  if (current === undefined) return { token: null };
  if (current !== null) {
    await loseTasks(database, current, undefined);
    if (current === tokenId && (await isTokenGood(database, current)))
      return { token: { id: current, value: null } };
  }
  const made = newTokenValue(secrets);
  const id = await assignToken(database, hostId, start, made);
  return { token: id === undefined ? null : { id, value: made.value } };
}

/** Processes have ended. Nothing happens for those that the host does not hold. */
export async function endProcesses(database: Database, { hostId, processes }: ProcessEnds): Promise<void> {
  await releaseProcesses(
    database,
    hostId,
    processes.filter(({ isFinal }) => isFinal),
  );
  for (const process of processes.filter(({ isFinal }) => !isFinal)) {
    const tokenId = await findToken(database, hostId, process);
    if (tokenId) await loseTasks(database, tokenId, process.how);
  }
}
