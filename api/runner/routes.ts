/** The runner routes (contract: Runner routes; decisions 9). */
import { annotationTaskRoutes } from './annotation-routes.ts';
import { claimRoutes } from './claims/claim-routes.ts';
import { debugRoutes } from './debug-routes.ts';
import { inputRoutes } from './input-routes.ts';
import { logRoutes } from './log-routes.ts';
import { outputRoutes } from './output-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { uploadRoutes } from './upload-routes.ts';

export const runnerRoutes = [
  ...claimRoutes,
  ...inputRoutes,
  ...outputRoutes,
  ...uploadRoutes,
  ...taskRoutes,
  ...logRoutes,
  ...annotationTaskRoutes,
  ...debugRoutes,
];
