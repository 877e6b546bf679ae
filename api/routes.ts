/** The one list of all routes of the platform. Each resource folder exports its own list. */
import { docsRoutes } from './docs/routes.ts';
import { healthRoutes } from './health/routes.ts';
import type { ApiRoute } from './route.ts';
import { userRoutes } from './user/routes.ts';

export const routes: readonly ApiRoute[] = [...healthRoutes, ...userRoutes, ...docsRoutes];
