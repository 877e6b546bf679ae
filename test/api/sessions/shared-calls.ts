/** Calls of shared sessions, beside those of all session tests. */
import type { SessionWorld } from './support.ts';

let exercises = 0;
/** A name that no other test uses. */
export const exercise = () => {
  exercises += 1;
  return `Exercise ${exercises}`;
};

export function sharedCalls(world: SessionWorld) {
  return {
    close: (id: string, json: unknown, token?: string) =>
      world.call('POST', `/api/v2/session/${id}/close`, json, token),
    shown: async (id: string, token = world.people.adminToken) =>
      (await world.call('GET', `/api/v2/sessions/${id}`, undefined, token)).body,
  };
}
