/** Reaching Temporal and making sure that it has what our workflows need. */
import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import Long from 'long';
import type { Logger } from 'pino';
import { searchAttributes } from '../workflows/contract.ts';
import type { TemporalSettings } from '../workflows/settings.ts';

/** gRPC's ALREADY_EXISTS. */
const alreadyExists = 6;
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
      return await NativeConnection.connect({ address: settings.TEMPORAL_ADDRESS });
    } catch (error) {
      if (tries === 1)
        log.warn({ error: String(error), address: settings.TEMPORAL_ADDRESS }, 'waiting for Temporal');
      await delay(500, undefined, { signal });
    }
  }
}

/** Makes the namespace and the search attributes when they are missing; a wiped store gets them again. */
export async function ensureNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  await ignoreExisting(() =>
    connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: Long.fromNumber(7 * 24 * 3_600) },
    }),
  );
  await ignoreExisting(() =>
    connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        Object.entries(searchAttributes).map(([name, type]) => [name, attributeTypes[type]]),
      ),
    }),
  );
}

async function ignoreExisting(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if ((error as { code?: number }).code !== alreadyExists) throw error;
  }
}
