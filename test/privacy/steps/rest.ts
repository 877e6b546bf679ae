/** Reading routes that no step calls by name, with parameters of earlier calls. */
import { allRoutes } from '../../support/openapi.ts';
import type { Scenario } from '../scenario.ts';

/** The segment before a parameter says what it names, where it is just called `id`. */
function placesOf(path: string): { readonly name: string; readonly place: string }[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    const name = /^\{(\w+)\+?\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    return [{ name, place: name === 'id' ? `${segments[index - 1]?.replace(/s$/, '')}/id` : name }];
  });
}

export async function driveRest({ drive, people }: Scenario): Promise<void> {
  await drive.good('POST', '/api/v2/admin/retention', { token: people.Administrator.token });
  const known = new Map<string, string>();
  for (const { route, params } of drive.recorded.values()) {
    for (const { name, place } of placesOf(route.path)) known.set(place, params[name] ?? '');
  }
  const rest = allRoutes.filter(({ id, method }) => method === 'GET' && !drive.recorded.has(id));
  for (const { path } of rest) {
    const filled = placesOf(path).reduce(
      (text, { name, place }) => text.replace(`{${name}}`, encodeURIComponent(known.get(place) ?? '')),
      path,
    );
    await drive.send({ method: 'GET', path: filled, token: people.Administrator.token });
  }
}
