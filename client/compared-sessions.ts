/** Reads what is compared of sessions: few requests for each, a few sessions at once. */
import type { ApiClient } from './api-client.ts';
import { ApiError } from './errors.ts';
import { inParallel } from './in-parallel.ts';
import type { ComparedSession } from './session-differences.ts';
import { newestOutputs } from './session-outputs.ts';
import type { Dashboard, NodeRun, SessionDetails } from './types.ts';

/** The most sessions that are compared at once. */
export const maxCompared = 20;
const sessionsAtOnce = 3;
const maxFiles = 500;
const maxInputNodes = 5;
const maxDashboards = 5;
const maxRunPages = 5;

export interface Compared {
  readonly sessions: readonly ComparedSession[];
  /** Sessions that do not exist, or that the caller may not see. */
  readonly missing: readonly string[];
}

interface Known {
  /** By session, where they were read already; else its newest are read. */
  readonly dashboards?: ReadonlyMap<string, readonly Dashboard[]>;
  /** The caller's role does not allow it: runs are not asked for. */
  readonly isWithoutRuns?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * In the order of the ids. What the caller may not see of a session is null.
 * @throws {ApiError} for any other refusal
 */
export async function readCompared(
  client: ApiClient,
  ids: readonly string[],
  known: Known = {},
): Promise<Compared> {
  const found = new Map<string, ComparedSession | null>();
  await inParallel(ids, sessionsAtOnce, async (id) => {
    found.set(id, await orNull(readOne(client, id, known)));
  });
  return {
    sessions: ids.flatMap((id) => found.get(id) ?? []),
    missing: ids.filter((id) => found.get(id) === null),
  };
}

async function readOne(
  client: ApiClient,
  id: string,
  { dashboards, isWithoutRuns, signal }: Known,
): Promise<ComparedSession> {
  const session = await client.call('GET /api/v2/sessions/{id}', { params: { id }, signal });
  const [runs, outputs, shown] = await Promise.all([
    isWithoutRuns === true ? null : orNull(readRuns(client, session, signal)),
    orNull(readOutputs(client, session, signal)),
    dashboards?.get(id) ?? orNull(readDashboards(client, session, signal)),
  ]);
  return {
    session,
    runs: runs?.found ?? null,
    hasMoreRuns: runs?.hasMore ?? false,
    outputs: outputs?.found ?? null,
    hasMoreFiles: outputs?.hasMore ?? false,
    dashboards: shown,
  };
}

/** Null for what the caller may not see, or what is gone. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return null;
    throw error;
  }
}

/** Pages of completed runs until each node with an output has one. */
async function readRuns(client: ApiClient, session: SessionDetails, signal: AbortSignal | undefined) {
  const found: NodeRun[] = [];
  const wanted = new Set(
    session.nodeInstances
      .filter(({ parentIds, currentOutputId }) => parentIds.length > 0 && currentOutputId !== null)
      .map(({ id }) => id),
  );
  for (let page = 1; page <= maxRunPages && wanted.size > 0; page++) {
    const query = { sessionId: session.id, state: 'completed', page, pageSize: 100 };
    const { nodeRuns, totalPages } = await client.call('GET /api/v2/node-runs', { query, signal });
    found.push(...nodeRuns);
    for (const { nodeInstanceId } of nodeRuns) wanted.delete(nodeInstanceId);
    if (page >= totalPages) return { found, hasMore: false };
  }
  return { found, hasMore: wanted.size > 0 };
}

/** The newest output of each node, and the files of the first Input nodes. */
async function readOutputs(client: ApiClient, session: SessionDetails, signal: AbortSignal | undefined) {
  const inputs = session.nodeInstances.filter(({ parentIds }) => parentIds.length === 0);
  const filters = [
    { latest: true },
    ...inputs.slice(0, maxInputNodes).map(({ id }) => ({ nodeInstanceId: id })),
  ];
  const lists = await Promise.all(
    filters.map((filter) => newestOutputs(client, session.id, maxFiles, filter, signal)),
  );
  const found = new Map(lists.flatMap(({ outputs }) => outputs.map((one) => [one.id, one] as const)));
  const hasMore = inputs.length > maxInputNodes || lists.some(({ nextCursor }) => nextCursor !== null);
  return { found: [...found.values()], hasMore };
}

const readDashboards = (client: ApiClient, session: SessionDetails, signal: AbortSignal | undefined) =>
  Promise.all(
    session.dimensions
      .slice(0, maxDashboards)
      .map(({ id }) => client.call('GET /api/v2/dashboard/dimensions/{id}', { params: { id }, signal })),
  );
