import type { ComponentType } from 'preact';
import type { AdminArea } from '../admin-areas.ts';
import { ConfigurationPage } from './configuration.tsx';
import { IngestsPage } from './ingests.tsx';
import { ManifestsPage } from './manifests.tsx';
import { ProjectsPage } from './projects.tsx';
import { RunnersPage } from './runners.tsx';
import { TemplatesPage } from './templates.tsx';
import { TokensPage } from './tokens.tsx';
import { UsersPage } from './users.tsx';

/** The pages for operators by the first segment of their addresses. */
export const adminPages: Record<AdminArea, ComponentType> = {
  runners: RunnersPage,
  manifests: ManifestsPage,
  templates: TemplatesPage,
  ingests: IngestsPage,
  configuration: ConfigurationPage,
  users: UsersPage,
  tokens: TokensPage,
  'project-list': ProjectsPage,
};
