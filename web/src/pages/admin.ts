import type { ComponentType } from 'preact';
import type { AdminArea } from '../admin-areas.ts';
import { AuditPage } from './audit.tsx';
import { ConfigurationPage } from './configuration.tsx';
import { IngestsPage } from './ingests.tsx';
import { ManifestsPage } from './manifests.tsx';
import { ProjectsPage } from './projects.tsx';
import { RetentionPage } from './retention.tsx';
import { RunnersPage } from './runners.tsx';
import { StoragePage } from './storage.tsx';
import { TemplatesPage } from './templates.tsx';
import { TokensPage } from './tokens.tsx';
import { UsersPage } from './users.tsx';
import { WebhooksPage } from './webhooks.tsx';

/** The pages for operators by the first segment of their addresses. */
export const adminPages: Record<AdminArea, ComponentType> = {
  runners: RunnersPage,
  manifests: ManifestsPage,
  templates: TemplatesPage,
  ingests: IngestsPage,
  configuration: ConfigurationPage,
  users: UsersPage,
  tokens: TokensPage,
  webhooks: WebhooksPage,
  'project-list': ProjectsPage,
  audit: AuditPage,
  retention: RetentionPage,
  storage: StoragePage,
};
