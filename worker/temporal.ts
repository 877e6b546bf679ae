/** Reaching Temporal and making sure that it has what our workflows need. */
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import Long from 'long';
import type { Logger } from 'pino';
import { searchAttributes } from '../workflows/contract.ts';
import { type TemporalSettings, temporalConnection } from '../workflows/settings.ts';

/** Numbers of gRPC's status codes. */
const grpc = { alreadyExists: 6, permissionDenied: 7, unimplemented: 12, unavailable: 14 } as const;
const retryMs = 100;
/** Temporal's numbers of search attribute types. */
const attributeTypes = { KEYWORD: 2, INT: 3 } as const;

/** Connects, trying again until Temporal is there or `signal` aborts. */
export async function connectTemporal(
  settings: TemporalSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<NativeConnection> {
  for (let tries = 1; ; tries++) {
    try {
      return await NativeConnection.connect(temporalConnection(settings));
    } catch (error) {
      if (tries === 1)
        log.warn({ error: String(error), address: settings.TEMPORAL_ADDRESS }, 'waiting for Temporal');
      await delay(retryMs, undefined, { signal });
    }
  }
}

/**
 * Makes the namespace and the search attributes when they are missing, trying again while Temporal accepts connections
 * but does not serve yet; a wiped store gets them again.
 * @returns false where this identity may not make them (a managed Temporal): an identity that may must do so, once
 */
export async function ensureNamespace(
  connection: NativeConnection,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const isNamespaceSeenTo = await tryToMake(signal, () =>
    connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: Long.fromNumber(7 * 24 * 3_600) },
    }),
  );
  const areAttributesSeenTo = await tryToMake(signal, () =>
    connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        Object.entries(searchAttributes).map(([name, type]) => [name, attributeTypes[type]]),
      ),
    }),
  );
  return isNamespaceSeenTo && areAttributesSeenTo;
}

async function tryToMake(signal: AbortSignal, make: () => Promise<unknown>): Promise<boolean> {
  for (;;) {
    try {
      await make();
      return true;
    } catch (error) {
      const { code } = error as { code?: number };
      if (code === grpc.alreadyExists) return true;
      if (code === grpc.permissionDenied || code === grpc.unimplemented) return false;
      if (code !== grpc.unavailable) throw error;
    }
    await delay(retryMs, undefined, { signal });
  }
}
