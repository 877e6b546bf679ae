/** All entities, named one by one: nothing is discovered by folder. */
import { ConfigurationEntry } from './configuration-entry.ts';
import { DashboardLayout } from './dashboard-layout.ts';
import { DataSource } from './data-source.ts';
import { Ingest } from './ingest.ts';
import { PlatformUser } from './platform-user.ts';
import { Project } from './project.ts';
import { ReportDefinition } from './report-definition.ts';
import { ReportSchedule } from './report-schedule.ts';
import { SessionTemplate } from './session-template.ts';
import { StaticDefinition, StaticInstance } from './static-definition.ts';
import { Webhook } from './webhook.ts';

export const entities = [
  ConfigurationEntry,
  DashboardLayout,
  DataSource,
  Ingest,
  PlatformUser,
  Project,
  ReportDefinition,
  ReportSchedule,
  SessionTemplate,
  StaticDefinition,
  StaticInstance,
  Webhook,
];
