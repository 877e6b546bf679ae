/** Paths of routes and of requests. Routes answer under version prefixes too (decisions 1). */

const version = '/api/v2';
const dottedVersion = '/api/v2.0';
const unversioned = ['/api/authorization'];

/**
 * All paths of a route. `/api/v2/...` also answers under `/api/v2.0/...`; a path listed without a version also answers
 * under both (`/api/sessions/query` as `/api/v2/sessions/query`). The authentication service's routes do not.
 */
export function allPaths(
  path: string,
  aliases: readonly string[],
  versions: 'versioned' | 'as-listed',
): string[] {
  const listed = [path, ...aliases];
  if (versions === 'as-listed') return listed;
  return [...new Set(listed.flatMap((each) => [each, ...versionedForms(each)]))];
}

function versionedForms(path: string): string[] {
  if (unversioned.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return [];
  if (path.startsWith(`${dottedVersion}/`)) return [];
  if (path.startsWith(`${version}/`)) return [dottedVersion + path.slice(version.length)];
  const bare = path.startsWith('/api/') ? path.slice('/api'.length) : path;
  return [version + bare, dottedVersion + bare];
}

/** Path and query of a request target, which may also be in absolute form. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? '';
  const rest = target.slice(origin.length);
  const at = rest.indexOf('?');
  return at < 0
    ? { path: rest || '/', query: '' }
    : { path: rest.slice(0, at) || '/', query: rest.slice(at + 1) };
}
