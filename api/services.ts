/** What handlers work with, as one typed object. `main.ts` makes it; tests make it with the same parts. */
import type { Logger } from 'pino';
import type { AuthClient } from './auth-client.ts';

/** Rejects, or takes longer than two seconds, when the part is down. */
export type Probe = () => Promise<void>;

export type Services = {
  readonly log: Logger;
  readonly auth: AuthClient;
  readonly probes: { readonly database: Probe; readonly storage: Probe };
};
