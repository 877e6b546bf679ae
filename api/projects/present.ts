import type { z } from 'zod';
import type { Role } from '../../domain/access/access.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { ShownProject } from '../../store/registry/projects.ts';
import type { VisiblePerson } from '../identity/participants.ts';
import { presentTemplate } from '../session-templates/present.ts';
import type { projectSchema, sessionProjectSchema } from './schema.ts';

function commonFields(project: ShownProject) {
  const template = project.defaultSessionTemplate;
  return {
    id: project.id,
    hexId: project.hexId,
    title: project.title,
    description: project.description,
    icon: project.icon,
    ownerId: project.owner.id,
    defaultSessionTemplateId: template?.id ?? null,
    defaultSessionTemplate: template === null ? null : presentTemplate(template),
    queuedIngestion: project.queuedIngestion,
    retentionDays: project.retentionDays,
    createdAt: formatTimestamp(project.createdAt),
  };
}

/** @param owner what the caller may see of the owner; null: the ids alone */
export function presentProject(
  project: ShownProject,
  owner: VisiblePerson | null,
): z.input<typeof projectSchema> {
  return {
    ...commonFields(project),
    pinnedMetadata: project.pinnedMetadata,
    priority: project.priority,
    owner: {
      id: project.owner.id,
      email: owner?.email ?? '',
      // The role that the platform stored last, where the present one cannot be read.
      type: owner?.role ?? (project.owner.type as Role),
      isActive: owner?.isActive ?? true,
      createdAt: formatTimestamp(project.owner.createdAt),
      externalB2CId: null,
      externalPlatformId: project.owner.externalId,
      sessionUsers: [],
      sessionDimensions: [],
    },
  };
}

/** As a session shows its project. */
export function presentSessionProject(
  project: ShownProject,
  owner: VisiblePerson | null,
): z.input<typeof sessionProjectSchema> {
  return {
    ...commonFields(project),
    owner: { id: project.owner.id, name: owner?.displayName ?? '', email: owner?.email ?? '' },
  };
}
