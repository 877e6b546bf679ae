import { useState } from 'preact/hooks';
import type { Session } from '../api.ts';
import { deleteSession, readWorkflowUi, retryFailed, setFrozen } from '../api.ts';
import { plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { CloseForm, useMayClose } from './close-form.tsx';
import type { Followed } from './follow.ts';

/** Opens the session's workflow in Temporal's UI, if the platform knows its address. */
function WorkflowLink({ sessionId }: { sessionId: string }) {
  const ui = useResource('workflow-ui', readWorkflowUi);
  if (ui.data === null || ui.data.url === null) return null;
  const { url, namespace } = ui.data;
  return (
    <a
      class="button button-small"
      href={`${url}/namespaces/${encodeURIComponent(namespace)}/workflows/session-${sessionId}`}
      target="_blank"
      rel="noreferrer"
      title="The session's workflow in the Temporal UI, in a new tab"
    >
      <Icon name="branch" />
      Workflow
    </a>
  );
}

/** Actions on the session as a whole. Its live events show their results. */
export function SessionActions(props: {
  sessionId: string;
  /** Null until it is read. */
  session: Session | null;
  followed: Followed;
}) {
  const { sessionId, session, followed } = props;
  const mayClose = useMayClose(session);
  const [closing, setClosing] = useState(false);
  const [deletes, setDeletes] = useState(false);
  const { freeze, operate, administrate } = useAbilities();
  const action = useAction();
  const [said, setSaid] = useState('');
  const frozen = followed.window?.frozen === true;
  const failed = followed.nodes?.filter((node) => node.state === 'Failed').length ?? 0;
  const retryAll = async () => {
    const retried = await retryFailed(sessionId);
    setSaid(
      retried === 0 ? 'No run could be tried again.' : `${plural(retried, 'run', 'runs')} queued again.`,
    );
  };
  return (
    <div class="session-actions">
      <div class="actions">
        {operate && <WorkflowLink sessionId={sessionId} />}
        {operate && failed > 0 && !frozen && (
          <button
            type="button"
            class="button button-small"
            aria-disabled={action.busy}
            onClick={() => void action.run(retryAll)}
          >
            <Icon name="reset" />
            Retry all failed
          </button>
        )}
        {freeze && followed.window !== null && (
          <button
            type="button"
            class="button button-small"
            aria-disabled={action.busy}
            title={frozen ? 'What waited goes on' : 'No uploads, joins, reprocessing or new tasks'}
            onClick={() => void action.run(() => setFrozen(sessionId, !frozen).then(() => setSaid('')))}
          >
            <Icon name={frozen ? 'play' : 'freeze'} />
            {frozen ? 'Unfreeze' : 'Freeze'}
          </button>
        )}
        {mayClose && followed.window?.status === 'open' && (
          <button type="button" class="button button-small" onClick={() => setClosing(true)}>
            <Icon name="check" />
            Close
          </button>
        )}
        {administrate && session !== null && (
          <button type="button" class="button button-small" onClick={() => setDeletes(true)}>
            <Icon name="cross" />
            Delete
          </button>
        )}
      </div>
      {deletes && session !== null && (
        <Confirm
          title={`Delete ${session.name}?`}
          verb="Delete the session"
          act={() => deleteSession(sessionId)}
          onClose={() => setDeletes(false)}
        >
          Its nodes, outputs and dashboards are deleted with it. There is no way back.
        </Confirm>
      )}
      {closing && session !== null && (
        <CloseForm session={session} onClose={() => setClosing(false)} closed={setSaid} />
      )}
      <p class="faint" role="status">
        {said}
      </p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </div>
  );
}
