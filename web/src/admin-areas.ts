import type { Abilities } from './role.ts';

/** The first segments of the addresses of the pages for operators. */
const adminAreas = [
  'runners',
  'manifests',
  'templates',
  'ingests',
  'configuration',
  'users',
  'tokens',
  'webhooks',
  'project-list',
  'audit',
  'retention',
  'storage',
] as const;

export type AdminArea = (typeof adminAreas)[number];

export function isAdminArea(area: string | undefined): area is AdminArea {
  return (adminAreas as readonly (string | undefined)[]).includes(area);
}

const administratorAreas: ReadonlySet<AdminArea> = new Set(['users', 'tokens', 'audit', 'retention']);

/** Whether a page for operators is useful to a person with these abilities. */
export function mayOpen(area: AdminArea, { operate, administrate, changeProjects }: Abilities): boolean {
  if (area === 'project-list' || area === 'storage') return changeProjects;
  return administratorAreas.has(area) ? administrate : operate;
}
