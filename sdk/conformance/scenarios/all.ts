import type { Scenario } from '../scenario.ts';
import { twoCopies } from './copies.ts';
import { holdingScenarios } from './holding.ts';
import { incrementalScenarios } from './incremental.ts';
import { inputScenarios } from './inputs.ts';
import { lostAnswerScenarios } from './lost-answers.ts';
import { plainScenarios } from './plain.ts';
import { redirectScenarios } from './redirects.ts';
import { sideScenarios } from './side-calls.ts';
import { stopScenarios } from './stop.ts';
import { troubleScenarios } from './trouble.ts';
import { uploadParts } from './uploads.ts';

/** Every scenario, the plain one first. */
export const scenarios: readonly Scenario[] = [
  ...plainScenarios,
  ...lostAnswerScenarios,
  uploadParts,
  ...troubleScenarios,
  ...holdingScenarios,
  ...inputScenarios,
  ...redirectScenarios,
  ...incrementalScenarios,
  ...sideScenarios,
  twoCopies,
  ...stopScenarios,
];
