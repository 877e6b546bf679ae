/** What people did with a session, in words. Pure: tested without a browser. */
import type { NodeInstanceProgress, SessionActivity } from '../../../../client/types.ts';
import { idWords, isOwnActor, titleOf } from '../../names.ts';

type Entry = SessionActivity['entries'][number];

/** The phrase of each operation. */
export const activityPhrases: Readonly<Record<string, string>> = {
  createSession: 'created the session',
  joinSharedSession: 'joined',
  ingestFile: 'sent a file',
  uploadNodeOutput: 'uploaded a file to',
  updateSession: 'changed the session',
  freezeSession: 'froze the session',
  unfreezeSession: 'unfroze the session',
  closeSession: 'closed the session',
  retryNodeRun: 'retried a run',
  retryFailedNodeRuns: 'retried all failed runs',
  cancelNodeRun: 'cancelled a run',
  reprocessNode: 'reprocessed',
  changeNodeConfiguration: 'changed the configuration of',
  adoptSessionTemplate: 'adopted the newer template',
  createScenarioInstance: 'added a scenario',
  createAnnotation: 'added an annotation',
  changeAnnotation: 'changed an annotation',
  deleteAnnotation: 'deleted an annotation',
  repairSession: 'repaired the session',
  createResumableUpload: 'began an upload to',
  terminateResumableUpload: 'gave up an upload to',
};

/** `uploaded a file`, `reprocessed Read table,`: what stands between a person and a time. */
function activityPhrase(
  { action, object }: Pick<Entry, 'action' | 'object'>,
  nodes: readonly NodeInstanceProgress[],
): string {
  const node = nodes.find(({ id }) => object.type === 'nodeInstance' && String(id) === object.id);
  const isOnlyInput = nodes.filter(({ parentIds }) => parentIds.length === 0).length === 1;
  if (action === 'uploadNodeOutput' && isOnlyInput) return 'uploaded a file';
  const deed = activityPhrases[action] ?? idWords(action);
  return node === undefined ? deed.replace(/ (to|of)$/, ' $1 a node') : `${deed} ${titleOf(node.name)},`;
}

const others: Readonly<Record<Entry['actor']['kind'], string>> = {
  user: 'A person',
  device: 'A device',
  runner: 'A runner',
  ingest: 'An ingest',
  platform: 'The platform',
};

export interface ActivityLine {
  readonly actorId: string | null;
  readonly who: string;
  readonly deed: string;
  /** The last time. */
  readonly at: string;
  /** How often in a row. */
  readonly times: number;
}

/** The activity as it is read: what one actor did several times in a row is one line. */
export function activityLines(
  entries: readonly Entry[],
  nodes: readonly NodeInstanceProgress[],
  ownId: string | undefined,
): ActivityLine[] {
  const lines: ActivityLine[] = [];
  for (const entry of entries) {
    const { actor, at } = entry;
    const who = isOwnActor(actor, ownId) ? 'You' : (actor.name ?? others[actor.kind]);
    const deed = activityPhrase(entry, nodes);
    const last = lines.at(-1);
    if (last?.actorId === actor.id && last.who === who && last.deed === deed)
      lines.splice(-1, 1, { ...last, times: last.times + 1 });
    else lines.push({ actorId: actor.id, who, deed, at, times: 1 });
  }
  return lines;
}
