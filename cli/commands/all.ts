/** All commands, in the order in which the help lists them. */
import type { AddCommand } from '../cli.ts';
import { addDoctor } from '../doctor/command.ts';
import { addConcurrency } from './administration/concurrency.ts';
import { addOwnPassword } from './administration/own-password.ts';
import { addAudit, addRetention } from './administration/retention.ts';
import { addTokens } from './administration/tokens.ts';
import { addUsers } from './administration/users.ts';
import { addWebhooks } from './administration/webhooks.ts';
import { addCompletion } from './completion.ts';
import { addConfig } from './config.ts';
import { addIngest } from './ingest.ts';
import { addLayouts } from './layouts.ts';
import { addLogin } from './login.ts';
import { addLogs } from './logs.ts';
import { addManifests } from './manifests.ts';
import { addNodes } from './nodes.ts';
import { addOutputs, addReports } from './outputs.ts';
import { addProjects } from './projects.ts';
import { addQuery } from './query.ts';
import { addReplay } from './replay.ts';
import { addReprocess } from './reprocess.ts';
import { addRunner } from './runner.ts';
import { addRunners } from './runners.ts';
import { addExplain, addRuns } from './runs.ts';
import { addSessions } from './sessions.ts';
import { addTemplates } from './templates.ts';
import { addUpload } from './upload.ts';
import { addWatchFolder } from './watch-folder.ts';

export const commands: readonly AddCommand[] = [
  addLogin,
  addOwnPassword,
  addProjects,
  addSessions,
  addNodes,
  addUpload,
  addIngest,
  addWatchFolder,
  addOutputs,
  addReports,
  addLayouts,
  addQuery,
  addRuns,
  addLogs,
  addReplay,
  addExplain,
  addConfig,
  addReprocess,
  addTemplates,
  addManifests,
  addRunner,
  addRunners,
  addConcurrency,
  addTokens,
  addUsers,
  addWebhooks,
  addAudit,
  addRetention,
  addDoctor,
  addCompletion,
];
