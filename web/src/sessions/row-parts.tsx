import type { SessionListRow } from '../api.ts';
import { formatBytes } from '../format.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { lastName, nodesDone, stateStyles, valueText } from './list-model.ts';

/** The state in a word, a sign and a colour, and how many nodes are done; a bar while it runs. */
export function StatePill({ session }: { session: SessionListRow }) {
  const { label, tone, icon } = stateStyles[session.state];
  const { done, total } = nodesDone(session);
  const words = `${done} of ${total} nodes done`;
  return (
    <span class={`badge state-${tone}`} title={words}>
      <Icon name={icon} />
      <span>{label}</span>
      <span class="badge-count">
        {done}/{total}
      </span>
      {session.state === 'running' && (
        <progress class="state-progress" value={done} max={Math.max(1, total)} aria-label={words} />
      )}
    </span>
  );
}

/** The cells of pinned metadata, if the list has them, size, owner and last activity. */
export function KnownBy({ session, pinned }: { session: SessionListRow; pinned: boolean }) {
  return (
    <>
      {pinned && (
        <td class="row-pinned">
          {session.pinnedMetadata.map(({ path, value }) => (
            <span key={path} class="tag" title={`${path}: ${valueText(value)}`}>
              <span class="tag-key">{lastName(path)}</span> {valueText(value)}
            </span>
          ))}
        </td>
      )}
      <td data-label="Size" class="nowrap figure row-plain">
        {session.outputBytes > 0 && formatBytes(session.outputBytes)}
      </td>
      <td data-label="Owner" class="row-cut row-plain">
        {session.owner.name}
      </td>
      <td data-label="Last activity" class="nowrap">
        <Ago at={session.lastActivityAt} />
      </td>
    </>
  );
}

/** Shared sessions carry `open` or `closed` in their metadata. */
export function SharedStatus(props: { metadata: Record<string, unknown> | null }) {
  const status = props.metadata?.status;
  if (status !== 'open' && status !== 'closed') return null;
  return <span class="tag">{status === 'open' ? 'shared, open' : 'shared, closed'}</span>;
}
