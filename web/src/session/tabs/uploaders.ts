import type { ListedOutput, SessionActivity } from '../../../../client/types.ts';

/** Who uploaded which file, from the activity of its session. Pure: tested without a browser. */

type Entry = SessionActivity['entries'][number];

/** An upload and its entry in the activity are of one transaction. */
const sameMs = 2000;

/** A function that is asked for each row of a list: it names an uploader, or null where the activity leaves it open. */
export function uploadersOf(
  entries: readonly Entry[],
): (output: Pick<ListedOutput, 'nodeInstanceId' | 'createdAt'>) => string | null {
  const ofNodes = new Map<string, { readonly atMs: number; readonly actor: Entry['actor'] }[]>();
  for (const { action, at, actor, object } of entries) {
    if (action !== 'uploadNodeOutput' || object.id === null) continue;
    const uploads = ofNodes.get(object.id) ?? [];
    uploads.push({ atMs: Date.parse(at), actor });
    ofNodes.set(object.id, uploads);
  }
  return ({ nodeInstanceId, createdAt }) => {
    const uploads = ofNodes.get(String(nodeInstanceId));
    if (uploads === undefined) return null;
    const createdMs = Date.parse(createdAt);
    const near = uploads.filter(({ atMs }) => Math.abs(atMs - createdMs) < sameMs);
    const actors = new Set(near.map(({ actor }) => actor.id));
    // Uploads of several people at the same moment cannot be distinguished.
    return actors.size === 1 ? (near[0]!.actor.name ?? near[0]!.actor.kind) : null;
  };
}
