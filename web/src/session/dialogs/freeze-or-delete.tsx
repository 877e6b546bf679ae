import type { SessionDetails } from '../../api.ts';
import { deleteSession } from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { Confirm } from '../../ui/dialog.tsx';

/** Asks before a session is frozen. */
export function FreezeDialog(props: {
  session: SessionDetails | null;
  freeze: () => Promise<unknown>;
  onClose: () => void;
}) {
  return (
    <Confirm
      title={
        <>
          Freeze <bdi>{props.session?.name ?? 'the session'}</bdi>?
        </>
      }
      verb="Freeze the session"
      act={props.freeze}
      onClose={props.onClose}
    >
      It accepts no uploads and starts no runs until it is unfrozen. Nothing is lost: what runs now ends, and
      what waits continues afterwards.
    </Confirm>
  );
}

/** Asks before a session is deleted, and says what is lost with it. */
export function DeleteDialog(props: { session: SessionDetails; onClose: () => void }) {
  const { session } = props;
  return (
    <Confirm
      title={
        <>
          Delete <bdi>{session.name}</bdi>?
        </>
      }
      verb="Delete the session"
      act={() => deleteSession(session.id)}
      onClose={props.onClose}
    >
      {lossOf(session)} This cannot be undone.
    </Confirm>
  );
}

/** What a deletion takes along. */
function lossOf({ dimensions, outputBytes }: SessionDetails): string {
  const lost = [
    outputBytes > 0 && `All files (${formatBytes(outputBytes)})`,
    dimensions.length > 0 && plural(dimensions.length, 'dashboard', 'dashboards'),
  ].filter((part) => part !== false);
  if (lost.length === 0) return 'It has no files. The logs of its runs are deleted with it.';
  return `${lost.join(', ')} and the logs of all runs are deleted with it.`;
}
