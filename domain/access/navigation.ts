/** The sidebar: what the console shows to whom (contract: Dashboard items; decisions 12). */
import { administrators, builders, everyone, type Role, staff } from './access.ts';

interface NavigationItem {
  readonly title: string;
  /** A name of the console's icon set. */
  readonly icon: string;
  /** Path of the console. */
  readonly url: string;
  readonly order: number;
  readonly code: string;
}

export interface NavigationSection {
  readonly title: string;
  readonly code: string;
  readonly order: number;
  readonly items: readonly NavigationItem[];
}

const pages: ReadonlyArray<readonly [title: string, roles: readonly Role[]]> = [
  ['Sessions', everyone],
  ['Dashboards', everyone],
  ['Reports', staff],
  ['Runners', builders],
  ['Templates', builders],
  ['Ingests', builders],
  ['Configuration', administrators],
  ['Users', administrators],
  ['Tokens', administrators],
];

/** The sections that a role sees, in order. */
export function navigationFor(role: Role): NavigationSection[] {
  return pages
    .map(([title, roles], index) => ({ title, roles, order: (index + 1) * 10 }))
    .filter(({ roles }) => roles.includes(role))
    .map(({ title, order }) => {
      const code = title.toLowerCase();
      return { title, code, order, items: [{ title, icon: code, url: `/${code}`, order: 10, code }] };
    });
}

/** A link to a system dashboard, as its definition says. */
export interface LinkedStatic {
  readonly code: string;
  readonly title: string;
  readonly icon: string;
  readonly order: number;
  readonly sectionCode: string;
  readonly sectionTitle: string;
  readonly url: string;
}

/** Links by section; a section gets its place and title from its first link. */
export function staticSections(links: readonly LinkedStatic[]): NavigationSection[] {
  const sections = new Map<string, LinkedStatic[]>();
  const inOrder = [...links].sort((a, b) => a.order - b.order || (a.code < b.code ? -1 : 1));
  for (const link of inOrder) {
    const section = sections.get(link.sectionCode);
    if (section === undefined) sections.set(link.sectionCode, [link]);
    else section.push(link);
  }
  return [...sections].map(([code, items]) => ({
    title: items[0]!.sectionTitle,
    code,
    order: items[0]!.order,
    items: items.map((item) => ({
      title: item.title,
      icon: item.icon,
      url: item.url,
      order: item.order,
      code: item.code,
    })),
  }));
}
