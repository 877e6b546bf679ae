/** Variables of the API process itself. Store, workflows and authentication describe their own. */
import { z } from 'zod';

const port = z.coerce.number('must be a port number').int().min(0).max(65_535);

export const apiSettings = z.object({
  /** Port of the platform interface, the authentication service and the console; 0 picks a free one. */
  PORT: port.default(8080),
  /** Address to listen on; absent: every interface. */
  HOST: z.string().optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Address of a separate authentication service; absent: it runs inside this process. */
  AUTH_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** `strict` turns a response that its route does not declare into a 500; for tests. */
  RESPONSE_CHECKS: z.enum(['strict', 'log']).default('log'),
});
export type ApiSettings = z.output<typeof apiSettings>;
