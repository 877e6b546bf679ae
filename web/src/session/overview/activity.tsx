import type { NodeInstanceProgress, SessionActivity } from '../../api.ts';
import { readActivity } from '../../api.ts';
import { useAuth, useResource } from '../../hooks.ts';
import { isOwnActor } from '../../names.ts';
import { Ago } from '../../ui/ago.tsx';
import { Failure, Placeholder } from '../../ui/notice.tsx';
import { activityPhrase } from './activity-phrases.ts';

const shownEntries = 12;

type Entry = SessionActivity['entries'][number];

const others: Readonly<Record<Entry['actor']['kind'], string>> = {
  user: 'A person',
  device: 'A device',
  runner: 'A runner',
  ingest: 'An ingest',
  platform: 'The platform',
};

/** Who did what, newest first. */
export function Activity(props: {
  sessionId: string;
  nodes: readonly NodeInstanceProgress[];
  /** Grows with every change in the session. */
  round: number;
}) {
  const ownId = useAuth().signIn?.user.userId;
  const list = useResource(props.sessionId, (signal) => readActivity(props.sessionId, shownEntries, signal), {
    version: props.round,
  });
  if (list.error !== null)
    return <Failure what="The activity could not be read." error={list.error} retry={list.reload} />;
  if (list.data === null) return <Placeholder rows={2} label="Loading the activity" />;
  if (list.data.entries.length === 0) return <p class="faint">Nothing yet.</p>;
  return (
    <ol class="activity" aria-label="Activity">
      {list.data.entries.map((entry) => (
        <li key={`${entry.at} ${entry.action} ${entry.object.id}`}>
          <strong title={entry.actor.id ?? undefined}>{actorWords(entry.actor, ownId)}</strong>{' '}
          {activityPhrase(entry, props.nodes)} <Ago at={entry.at} />
        </li>
      ))}
    </ol>
  );
}

function actorWords(actor: Entry['actor'], ownId: string | undefined): string {
  return isOwnActor(actor, ownId) ? 'You' : (actor.name ?? others[actor.kind]);
}
