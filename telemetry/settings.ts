/** What every process reads of its environment for its telemetry. The variables of OpenTelemetry are read by tracing.ts. */
import { z } from 'zod';

export const telemetrySettings = z.object({
  METRICS_PORT: z.coerce
    .number('must be a port')
    .int('must be a port')
    .min(0, 'must be a port')
    .max(65_535, 'must be a port')
    .optional()
    .describe(
      'Port of `/metrics` of this process, without authentication; 0 picks a free one; absent: none.',
    ),
  METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address of `/metrics`; 0.0.0.0: all IPv4 addresses.'),
});

export type TelemetrySettings = z.output<typeof telemetrySettings>;
