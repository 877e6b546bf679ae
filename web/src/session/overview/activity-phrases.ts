/** What people did with a session, in words. Pure: tested without a browser. */
import type { NodeInstanceProgress, SessionActivity } from '../../../../client/types.ts';
import { idWords, titleOf } from '../../names.ts';

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
export function activityPhrase(
  { action, object }: Pick<Entry, 'action' | 'object'>,
  nodes: readonly NodeInstanceProgress[],
): string {
  const node = nodes.find(({ id }) => object.type === 'nodeInstance' && String(id) === object.id);
  const isOnlyInput = nodes.filter(({ parentIds }) => parentIds.length === 0).length === 1;
  if (action === 'uploadNodeOutput' && isOnlyInput) return 'uploaded a file';
  const deed = activityPhrases[action] ?? idWords(action);
  return node === undefined ? deed.replace(/ (to|of)$/, ' $1 a node') : `${deed} ${titleOf(node.name)},`;
}
