/** All commands, in the order in which the help lists them. */
import type { AddCommand } from '../cli.ts';
import { addCompletion } from './completion.ts';
import { addDoctor } from './doctor.ts';
import { addLogin } from './login.ts';
import { addManifests } from './manifests.ts';
import { addOutputs, addReports } from './outputs.ts';
import { addProjects } from './projects.ts';
import { addQuery } from './query.ts';
import { addAudit, addRetention } from './retention.ts';
import { addRunners } from './runners.ts';
import { addExplain, addRuns } from './runs.ts';
import { addSessions } from './sessions.ts';
import { addTemplates } from './templates.ts';
import { addTokens } from './tokens.ts';
import { addUpload } from './upload.ts';
import { addUsers } from './users.ts';

export const commands: readonly AddCommand[] = [
  addLogin,
  addProjects,
  addSessions,
  addUpload,
  addOutputs,
  addReports,
  addQuery,
  addRuns,
  addExplain,
  addTemplates,
  addManifests,
  addRunners,
  addTokens,
  addUsers,
  addAudit,
  addRetention,
  addDoctor,
  addCompletion,
];
