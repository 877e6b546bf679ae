import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Keeps Temporal's own lines out of the output, but for errors. Once a process. */
export function quietTemporal(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}
