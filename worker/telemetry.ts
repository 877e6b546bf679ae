/** The telemetry of a worker process: the platform's own, and that of Temporal's native worker among it. */
import { createServer } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';
import { addFurtherMetrics } from '../telemetry/registry.ts';
import type { TelemetrySettings } from '../telemetry/settings.ts';

const answerLimitMs = 1_000;

/** What the native worker logs goes to the logger of the runtime; on its own it prints other lines than JSON. */
const logging: NonNullable<TelemetryOptions['logging']> = {
  filter: { core: 'WARN', other: 'ERROR' },
  forward: {},
};

/**
 * The options of Temporal's runtime. Where metrics are enabled its exporter serves a port of its own, on the loopback
 * alone; `/metrics` of the process includes its text.
 */
export async function temporalTelemetry(settings: TelemetrySettings): Promise<TelemetryOptions> {
  if (settings.METRICS_PORT === undefined) return { logging };
  const bindAddress = `127.0.0.1:${await freePort()}`;
  addFurtherMetrics(async () => {
    const answer = await fetch(`http://${bindAddress}/metrics`, {
      signal: AbortSignal.timeout(answerLimitMs),
    });
    return answer.ok ? await answer.text() : '';
  });
  return {
    logging,
    metrics: {
      prometheus: {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('There is no free port.'));
      });
    });
  });
}
