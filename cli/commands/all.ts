/** All commands, in the order in which the help lists them. */
import type { AddCommand } from '../cli.ts';
import { addLogin } from './login.ts';
import { addManifests } from './manifests.ts';
import { addProjects } from './projects.ts';
import { addQuery } from './query.ts';
import { addRunners } from './runners.ts';
import { addExplain, addRuns } from './runs.ts';
import { addSessions } from './sessions.ts';
import { addTemplates } from './templates.ts';
import { addTokens } from './tokens.ts';
import { addUsers } from './users.ts';

export const commands: readonly AddCommand[] = [
  addLogin,
  addProjects,
  addSessions,
  addQuery,
  addRuns,
  addExplain,
  addTemplates,
  addManifests,
  addRunners,
  addTokens,
  addUsers,
];
