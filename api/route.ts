/** `defineRoute` of the platform's own routes. See http/route.ts for how to write one. */
import { type Route, routeFactory } from '../http/route.ts';
import type { Principal } from './identity/auth-client.ts';
import type { RunnerPrincipal } from './runner-tokens/principal.ts';
import type { Services } from './services.ts';

export const defineRoute = routeFactory<Services, Principal | RunnerPrincipal, true>();
export type ApiRoute = Route<Services>;
