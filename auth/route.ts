/** `defineRoute` of the authentication service: its services and its callers. */
import type { Logger } from 'pino';
import { type Route, routeFactory } from '../http/route.ts';
import type { AuthDatabase } from './database.ts';
import type { AuthSettings } from './settings.ts';
import type { UserRow } from './user-view.ts';

export type AuthServices = {
  readonly log: Logger;
  readonly database: AuthDatabase;
  readonly settings: AuthSettings;
  /** Aborted when a separate service begins to stop. */
  readonly leaving: AbortSignal;
};

/** A caller of this service with a valid token. */
export type AuthCaller = {
  readonly kind: 'access' | 'offline';
  readonly role: UserRow['role'];
  readonly mustChangePassword: boolean;
  readonly user: UserRow;
  readonly tokenId: string;
  readonly familyId: string | null;
};

export const defineRoute = routeFactory<AuthServices, AuthCaller>();
export type AuthRoute = Route<AuthServices>;
