import { readNavigation } from './api.ts';
import type { Resource } from './hooks.ts';
import { useResource } from './hooks.ts';
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
  items: NavigationItem[];
}

/** The parts of the console that the person's role sees. */
export function useNavigation(role: string): Resource<NavigationSection[]> {
  return useResource(role, async (signal) => (await readNavigation(signal)).sections);
}

/** System dashboards name icons of their own; those that the console lacks are drawn as a chart. */
export function iconOf(name: string): IconName {
  return isIcon(name) ? name : 'chart';
}

/** True when the page at `path` belongs to the item. The start page is the list of sessions. */
export function covers(item: NavigationItem, path: string): boolean {
  const shown = path === '/' ? '/sessions' : path;
  return shown === item.url || shown.startsWith(`${item.url}/`);
}
