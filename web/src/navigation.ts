import { readNavigation } from './api.ts';
import type { Resource } from './hooks.ts';
import { useResource } from './hooks.ts';
import type { Abilities } from './role.ts';
import { abilitiesOf } from './role.ts';
import type { IconName } from './ui/icon.tsx';
import { isIcon } from './ui/icon.tsx';

export interface NavigationItem {
  title: string;
  icon: string;
  url: string;
  code: string;
}

export interface NavigationSection {
  title: string;
  code: string;
  items: readonly NavigationItem[];
}

/** The parts of the console that the person's role sees. */
export function useNavigation(role: string): Resource<readonly NavigationSection[]> {
  return useResource(role, async (signal) =>
    withOwnPages((await readNavigation(signal)).sections, abilitiesOf(role)),
  );
}

/** Adds the console's pages that the platform's navigation does not list, each after its related page. */
function withOwnPages(sections: readonly NavigationSection[], may: Abilities): NavigationSection[] {
  const own = [
    { after: 'sessions', title: 'Runs', code: 'runs', url: '/runs', may: may.readRuns },
    {
      after: 'sessions',
      title: 'Shared sessions',
      code: 'shared',
      url: '/shared-sessions',
      may: may.listSessions,
    },
    // `/projects` is a route of the platform itself.
    { after: 'sessions', title: 'Projects', code: 'projects', url: '/project-list', may: may.changeProjects },
    { after: 'runners', title: 'Manifests', code: 'manifests', url: '/manifests', may: may.operate },
    { after: 'ingests', title: 'Webhooks', code: 'webhooks', url: '/webhooks', may: may.operate },
    { after: 'reports', title: 'Storage', code: 'storage', url: '/storage', may: may.changeProjects },
    { after: 'tokens', title: 'Audit', code: 'audit', url: '/audit', may: may.administrate },
    { after: 'tokens', title: 'Retention', code: 'retention', url: '/retention', may: may.administrate },
  ];
  return sections.flatMap((section) => [
    section,
    ...own
      .filter((page) => page.may && page.after === section.code)
      .map(({ title, code, url }) => ({ title, code, items: [{ title, code, icon: code, url }] })),
  ]);
}

/** System dashboards name their own icons; unknown ones are drawn as a chart. */
export function iconOf(name: string): IconName {
  return isIcon(name) ? name : 'chart';
}

/** True when the page at `path` belongs to the item. The start page is the list of sessions. */
export function covers(item: NavigationItem, path: string): boolean {
  const shown = path === '/' ? '/sessions' : path;
  return shown === item.url || shown.startsWith(`${item.url}/`);
}
