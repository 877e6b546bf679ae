/** Starts a platform server from its services, for processes and tests. */
import { tokenPrefixes } from '../domain/access/token-format.ts';
import { createApp, routeSet } from '../http/app.ts';
import type { Call } from '../http/call.ts';
import type { Fallback } from '../http/middlewares.ts';
import { observeRoutes } from '../http/observe.ts';
import { type OpenApiDocument, openApiDocument } from '../http/openapi/openapi.ts';
import type { Identify } from '../http/route-middlewares.ts';
import type { RouteSet } from '../http/routing.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import { staticFiles } from '../http/server/static.ts';
import { auditing } from './audit/middleware.ts';
import { CallerShares, shareKeyOf } from './caller-shares.ts';
import { callsInTurn } from './calls-in-turn.ts';
import { documentInfo } from './docs/info.ts';
import { answeringOnce } from './idempotency.ts';
import { LastingCalls } from './identity/lasting-calls.ts';
import type { ApiRoute } from './route.ts';
import { routes as allRoutes } from './routes.ts';
import type { OpenServices, Services } from './services.ts';
import { withinOwnSessions } from './session-guard.ts';

const runnerPrefixes = ['/api/v2/runner/', '/api/v2.0/runner/'];
const consoleFolder = new URL('../web/dist/', import.meta.url);

export type StartOptions = {
  readonly services: OpenServices;
  readonly authRouteSet: RouteSet;
  /** In place of the product's own, for tests of the machinery. */
  readonly routes?: readonly ApiRoute[];
  /** Other than the product's own, for tests. */
  readonly shares?: CallerShares;
  /** Other than the built console, for tests. */
  readonly fallback?: Fallback;
};

/** Resolves when the server listens; `stop` ends it in order, but leaves the services open. */
export async function startApi(options: StartOptions): Promise<RunningServer> {
  const { settings, log } = options.services;
  let document: OpenApiDocument | null = null;
  const leaving = new AbortController();
  const services: Services = {
    ...options.services,
    reference() {
      document ??= openApiDocument(known, documentInfo);
      return document;
    },
    leaving: leaving.signal,
  };
  const shutdown = new AbortController();
  const platform = platformRoutes(options, services);
  const routeSets = [platform, options.authRouteSet];
  const known = routeSets.flatMap(({ routes }) => routes);
  const app = createApp({
    routeSets,
    codedPrefixes: runnerPrefixes,
    log,
    shutdown: shutdown.signal,
    leaving: leaving.signal,
    fallback: options.fallback ?? staticFiles(consoleFolder),
    observe: observeRoutes(known),
    isBehindTls: settings.PUBLIC_URL?.startsWith('https:') === true,
  });
  // Before the first request: leases that could not be renewed are extended first.
  await services.runners.open();
  return await listen(app.callback(), {
    port: settings.PORT,
    shutdown,
    leaving,
    leaveSeconds: settings.SHUTDOWN_DELAY_SECONDS,
    ...(settings.HOST === undefined ? {} : { host: settings.HOST }),
  });
}

function platformRoutes(
  { routes = allRoutes, shares = new CallerShares() }: StartOptions,
  services: Services,
) {
  const { TRUSTED_PROXIES, RESPONSE_CHECKS } = services.settings;
  const callerKey = (call: Call) => call.principal && shareKeyOf(call.principal, call, TRUSTED_PROXIES);
  return routeSet(routes, {
    services,
    identify: identifyingBy(services),
    acquireShare: (share, caller, call) => shares.acquire(share, shareKeyOf(caller, call, TRUSTED_PROXIES)),
    callerKey,
    middlewares: [
      callsInTurn(callerKey),
      withinOwnSessions(services),
      answeringOnce(services.keys),
      auditing(services),
    ],
    responseChecks: RESPONSE_CHECKS,
  });
}

function identifyingBy(services: Services): Identify {
  const { runners, auth } = services;
  const lasting = new LastingCalls(services);
  return async (bearer, call) => {
    // After a stall of this process, leases that could not be renewed are extended first.
    if (runnerPrefixes.some((prefix) => call.path.startsWith(prefix))) await runners.caughtUp();
    if (bearer.startsWith(tokenPrefixes.runner)) return await runners.tokens.identify(bearer, call);
    const person = await auth.identify(bearer, call.requestId);
    if (person !== null) lasting.add(bearer, call);
    return person;
  };
}
