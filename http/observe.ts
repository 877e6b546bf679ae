/** Measures requests by route: its path as the interface lists it, never the path that was sent. */
import { requestServed } from '../telemetry/metrics.ts';
import type { AppOptions } from './app.ts';
import type { Route } from './route.ts';

/** Makes {@link AppOptions.observe} for an app that serves these routes. */
export function observeRoutes(
  routes: readonly Pick<Route, 'id' | 'method' | 'path'>[],
): NonNullable<AppOptions['observe']> {
  const byId = new Map(routes.map((route) => [route.id, route]));
  return (routeId, status, seconds) => {
    const route = byId.get(routeId);
    // Requests without a route share one label for unknown paths and one for the console's files.
    if (route === undefined) requestServed('', routeId === 'static' ? '(static)' : '(none)', status, seconds);
    else requestServed(route.method, route.path, status, seconds);
  };
}
