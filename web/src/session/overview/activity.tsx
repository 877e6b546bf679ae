import type { NodeInstanceProgress } from '../../api.ts';
import { readActivity } from '../../api.ts';
import { useAuth, useResource } from '../../hooks.ts';
import { Ago } from '../../ui/ago.tsx';
import { Failure, Placeholder } from '../../ui/notice.tsx';
import { activityLines } from './activity-phrases.ts';

const readEntries = 40;
const shownLines = 12;

/** Who did what, newest first. */
export function Activity(props: {
  sessionId: string;
  nodes: readonly NodeInstanceProgress[];
  /** Grows with every change in the session. */
  round: number;
}) {
  const ownId = useAuth().signIn?.user.userId;
  const list = useResource(props.sessionId, (signal) => readActivity(props.sessionId, readEntries, signal), {
    version: props.round,
  });
  if (list.error !== null)
    return <Failure what="The activity could not be read." error={list.error} retry={list.reload} />;
  if (list.data === null) return <Placeholder rows={2} label="Loading the activity" />;
  const { entries, nextCursor } = list.data;
  if (entries.length === 0) return <p class="faint">Nothing yet.</p>;
  const lines = activityLines(entries, props.nodes, ownId);
  // Entries that were not read may belong to the last line.
  const least = (index: number) => (nextCursor !== null && index === lines.length - 1 ? 'at least ' : '');
  return (
    <ol class="activity" aria-label="Activity">
      {lines.slice(0, shownLines).map(({ actorId, who, deed, at, times }, index) => (
        <li key={`${at} ${deed}`}>
          <strong title={actorId ?? undefined}>{who}</strong> {deed}{' '}
          {times > 1 && `${least(index)}${times} times, `}
          <Ago at={at} />
        </li>
      ))}
    </ol>
  );
}
