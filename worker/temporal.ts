/** Reaching Temporal and making sure that it has what our workflows need. */
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import Long from 'long';
import type { Logger } from 'pino';
import { searchAttributes } from '../workflows/contract.ts';
import { type TemporalSettings, temporalConnection } from '../workflows/settings.ts';

/** Numbers of gRPC's status codes. */
const grpc = {
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
} as const;
const retryMs = 100;
/** Temporal's numbers of search attribute types. */
const attributeTypes = { KEYWORD: 2, INT: 3 } as const;

/**
 * Connects and makes what our workflows need, trying again until Temporal serves or `signal` aborts: it accepts connections
 * a moment before.
 */
export async function connectTemporal(
  settings: TemporalSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<NativeConnection> {
  const namespace = settings.TEMPORAL_NAMESPACE;
  for (let tries = 1; ; tries++) {
    let connection: NativeConnection | undefined;
    try {
      connection = await NativeConnection.connect(temporalConnection(settings));
      if (!(await ensureNamespace(connection, namespace)))
        log.warn({ namespace, searchAttributes }, 'Temporal refuses to create them; they must exist');
      return connection;
    } catch (error) {
      await connection?.close();
      if (connection !== undefined && !isPassing(error)) throw error;
      if (tries === 1) log.warn({ err: error, address: settings.TEMPORAL_ADDRESS }, 'waiting for Temporal');
      await delay(retryMs, undefined, { signal });
    }
  }
}

/** Temporal is not there yet, or does not know yet the namespace that was just made. */
function isPassing(error: unknown): boolean {
  const { code } = error as { code?: number };
  return code === grpc.unavailable || code === grpc.notFound;
}

/**
 * Makes the namespace and the search attributes when they are missing; a wiped store gets them again.
 * @returns false where this identity may not make them (a managed Temporal): an identity that may must do so, once
 */
export async function ensureNamespace(connection: NativeConnection, namespace: string): Promise<boolean> {
  // Temporal logs four warnings for each attempt to make attributes that are there.
  if (await hasAttributes(connection, namespace)) return true;
  const isNamespaceSeenTo = await tryToMake(() =>
    connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: Long.fromNumber(7 * 24 * 3_600) },
    }),
  );
  const areAttributesSeenTo = await tryToMake(() =>
    connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        Object.entries(searchAttributes).map(([name, type]) => [name, attributeTypes[type]]),
      ),
    }),
  );
  return isNamespaceSeenTo && areAttributesSeenTo;
}

/**
 * Whether the namespace says that it has them: those on SQL do, one on Elasticsearch does not. Their own list is not asked
 * for: the server opens a connection to itself for each such call and never closes it.
 */
async function hasAttributes(connection: NativeConnection, namespace: string): Promise<boolean> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const known = Object.values(config?.customSearchAttributeAliases ?? {});
    return Object.keys(searchAttributes).every((name) => known.includes(name));
  } catch {
    // The calls that make them report what is wrong.
    return false;
  }
}

async function tryToMake(make: () => Promise<unknown>): Promise<boolean> {
  try {
    await make();
  } catch (error) {
    const { code } = error as { code?: number };
    if (code === grpc.permissionDenied || code === grpc.unimplemented) return false;
    if (code !== grpc.alreadyExists) throw error;
  }
  return true;
}
