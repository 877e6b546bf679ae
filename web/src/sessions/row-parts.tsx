import type { SessionList, SessionListRow } from '../api.ts';
import { formatBytes, formatExactly, plural } from '../format.ts';
import { titleOf } from '../names.ts';
import { valueText } from '../session/metadata-model.ts';
import { sessionStyles } from '../states.ts';
import { Ago } from '../ui/ago.tsx';
import { Icon } from '../ui/icon.tsx';
import { Paging } from '../ui/paging.tsx';
import { lastName, nodesDone, statusWords, summaryOf } from './list-model.ts';

/** The state in a word, a sign and a colour, and how many nodes are done; a bar while it runs. */
export function StatePill({ session }: { session: SessionListRow }) {
  const { label, tone, icon } = sessionStyles[session.state];
  const { done, total } = nodesDone(session);
  const words = `${done} of ${plural(total, 'node', 'nodes')} done`;
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

/** The whole of a name that is cut, the template, and the times that the row shows in words. */
export const fullName = ({ name, sessionTemplateName, createdAt, lastActivityAt }: SessionListRow) =>
  `${name}\n${titleOf(sessionTemplateName)}\nCreated ${formatExactly(createdAt)}\nLast activity ${formatExactly(lastActivityAt)}`;

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
      <td data-label="Size" class="nowrap figure row-plain row-spare">
        {session.outputBytes > 0 && formatBytes(session.outputBytes)}
      </td>
      <td data-label="Owner" class="row-cut row-plain row-spare" title={session.owner.name ?? undefined}>
        {session.owner.name}
      </td>
      <td data-label="Last activity" class="nowrap row-spare">
        <Ago at={session.lastActivityAt} />
      </td>
    </>
  );
}

/** Whether machines share it, and whether it is closed. */
export function SessionStatus(props: { session: SessionListRow }) {
  const words = statusWords(props.session);
  return words === null ? null : <span class="tag">{words}</span>;
}

/** A button that shows the sessions that came since the list was read. */
export function NewerSessions(props: { newer: number; word: 'newer' | 'further'; show: () => void }) {
  const { newer, word } = props;
  if (newer === 0) return null;
  return (
    <button type="button" class="button button-small sessions-newer" onClick={props.show}>
      Show {plural(newer, `${word} session`, `${word} sessions`)}
    </button>
  );
}

/** The pages of a list of sessions, and how many sessions it has. */
export function SessionPaging(props: {
  page: number;
  /** Null until it is read. */
  list: SessionList | null;
  /** How many are shown. */
  rows: number;
  onPage: (page: number) => void;
}) {
  const { list } = props;
  return (
    <Paging
      page={props.page}
      totalPages={Math.max(1, list?.totalPages ?? 1)}
      summary={summaryOf(list, props.rows)}
      onPage={props.onPage}
    />
  );
}
