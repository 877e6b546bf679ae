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
  'project-list',
] as const;

export type AdminArea = (typeof adminAreas)[number];

export function isAdminArea(area: string | undefined): area is AdminArea {
  return (adminAreas as readonly (string | undefined)[]).includes(area);
}

/** Whether a page for operators is useful to a person with these abilities. */
export function mayOpen(area: AdminArea, { operate, administrate, changeProjects }: Abilities): boolean {
  if (area === 'project-list') return changeProjects;
  return area === 'users' || area === 'tokens' ? administrate : operate;
}
