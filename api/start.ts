/** A listening platform server from settings and services. Processes and tests start it alike. */
import { createApp, type Fallback } from '../http/app.ts';
import { createDispatcher } from '../http/dispatcher.ts';
import { listen, type RunningServer } from '../http/server.ts';
import type { ApiRoute } from './route.ts';
import { routes as allRoutes } from './routes.ts';
import type { Services } from './services.ts';
import type { ApiSettings } from './settings.ts';

export type StartOptions = {
  readonly settings: ApiSettings;
  readonly services: Services;
  /** Static files; absent: unknown paths are 404. */
  readonly fallback?: Fallback;
  /** Other than the product's own, for tests of the machinery. */
  readonly routes?: readonly ApiRoute[];
};

/** Resolves when the server listens; `stop` ends it in order. */
export async function startApi(options: StartOptions): Promise<RunningServer> {
  const { settings, services } = options;
  const shutdown = new AbortController();
  const dispatcher = createDispatcher(options.routes ?? allRoutes, {
    services,
    identify: (bearer, call) => services.auth.identify(bearer, call.requestId),
    responseChecks: settings.RESPONSE_CHECKS,
    codedPrefixes: ['/api/v2/runner/', '/api/v2.0/runner/'],
  });
  const app = createApp({
    dispatcher,
    log: services.log,
    shutdown: shutdown.signal,
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
  });
  return await listen(app.callback(), {
    port: settings.PORT,
    shutdown,
    ...(settings.HOST === undefined ? {} : { host: settings.HOST }),
  });
}
