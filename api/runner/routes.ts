/** The runner routes (contract: Runner routes; decisions 9). */
import { claimRoutes } from './claim-routes.ts';
import { debugRoutes } from './debug-routes.ts';
import { inputRoutes } from './input-routes.ts';
import { outputRoutes } from './output-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { uploadRoutes } from './upload-routes.ts';

export const runnerRoutes = [
  ...claimRoutes,
  ...inputRoutes,
  ...outputRoutes,
  ...uploadRoutes,
  ...taskRoutes,
  ...debugRoutes,
];
