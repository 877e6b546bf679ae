/** Projects and session templates by their names, as people know them. */
import type { Project, SessionTemplate } from '../client/types.ts';
import { UsageError } from './errors.ts';
import type { PlatformClient } from './platform-client.ts';

/** @param named title or id */
export async function findProject(platform: PlatformClient, named: string): Promise<Project> {
  const projects = await platform.call('GET /projects');
  return onlyOne({ kind: 'project', list: 'projects list' }, named, projects, ({ title }) => title);
}

/** @param named name or id */
export async function findSessionTemplate(platform: PlatformClient, named: string): Promise<SessionTemplate> {
  const templates = await platform.call('GET /api/v2/session/session_templates');
  return onlyOne({ kind: 'session template', list: 'templates list' }, named, templates, ({ name }) => name);
}

/** A name comes before an id, because a name may be a number. */
function onlyOne<Item extends { readonly id: number }>(
  { kind, list }: { readonly kind: string; readonly list: string },
  named: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): Item {
  const byName = items.filter((item) => nameOf(item) === named);
  const found = byName.length > 0 ? byName : items.filter(({ id }) => String(id) === named);
  const [first, ...others] = found;
  if (first === undefined) throw new UsageError(`There is no ${kind} ${named}: see \`sdp ${list}\`.`);
  if (others.length === 0) return first;
  const ids = found.map(({ id }) => id).join(', ');
  throw new UsageError(`${found.length} ${kind}s are called ${named}: use an id (${ids}).`);
}
