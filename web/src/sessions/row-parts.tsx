import type { SessionListRow } from '../api.ts';
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

/** The metadata that the project pins. */
export function Pinned({ session }: { session: SessionListRow }) {
  return (
    <>
      {session.pinnedMetadata.map(({ path, value }) => (
        <span key={path} class="tag" title={`${path}: ${valueText(value)}`}>
          <span class="tag-key">{lastName(path)}</span> {valueText(value)}
        </span>
      ))}
    </>
  );
}
