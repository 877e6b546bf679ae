import { useState } from 'preact/hooks';
import type { SessionDetails } from '../api.ts';
import { deleteSession, readWorkflowUi, retryFailed, setFrozen } from '../api.ts';
import { plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { usePageActions } from '../palette/page-actions.ts';
import { useAbilities } from '../role.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Notice } from '../ui/notice.tsx';
import { CloseForm, useMayClose } from './close-form.tsx';
import type { Followed } from './follow.ts';
import { PriorityForm } from './priority-form.tsx';

/** The address of the session's workflow in Temporal's UI, if the platform knows it and the person may see it. */
function useWorkflowAddress(sessionId: string, operate: boolean): string | null {
  const ui = useResource(String(operate), (signal) =>
    operate ? readWorkflowUi(signal) : Promise.resolve(null),
  );
  if (ui.data === null || ui.data.url === null) return null;
  const { url, namespace } = ui.data;
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/session-${sessionId}`;
}

/** Actions on the session as a whole. Its live events show their results. */
export function SessionActions(props: {
  sessionId: string;
  /** Null until it is read. */
  session: SessionDetails | null;
  followed: Followed;
}) {
  const { sessionId, session, followed } = props;
  const [open, setOpen] = useState<'close' | 'delete' | 'freeze' | 'priority' | null>(null);
  const [said, setSaid] = useState('');
  const [changed, setChanged] = useState<number | null>(null);
  const priority = changed ?? session?.priority ?? 0;
  const { operate } = useAbilities();
  const action = useAction();
  const frozen = followed.window?.frozen === true;
  const failed = followed.nodes?.filter((node) => node.state === 'Failed').length ?? 0;
  const retryAll = async () => {
    const retried = await retryFailed(sessionId);
    setSaid(retried === 0 ? 'No run could be retried.' : `${plural(retried, 'run', 'runs')} retried.`);
  };
  const freeze = () => setFrozen(sessionId, !frozen).then(() => setSaid(''));
  const items = useMenuItems(props, {
    priority,
    open: setOpen,
    unfreeze: () => void action.run(freeze),
  });
  usePageActions(items.flatMap(({ label, act }) => (act === undefined ? [] : [{ label, act }])));
  return (
    <>
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
      <Menu label="More actions" items={items} />
      {open === 'freeze' && (
        <Confirm
          title={`Freeze ${session?.name ?? 'the session'}?`}
          verb="Freeze the session"
          act={freeze}
          onClose={() => setOpen(null)}
        >
          It accepts no uploads and starts no runs until it is unfrozen. Nothing is lost: what runs now ends,
          and what waits continues afterwards.
        </Confirm>
      )}
      {open === 'delete' && session !== null && (
        <Confirm
          title={`Delete ${session.name}?`}
          verb="Delete the session"
          act={() => deleteSession(sessionId)}
          onClose={() => setOpen(null)}
        >
          {lossOf(followed, session)} This cannot be undone.
        </Confirm>
      )}
      {open === 'priority' && session !== null && (
        <PriorityForm
          session={{ ...session, priority }}
          saved={(saved) => {
            setChanged(saved);
            setSaid(`Priority ${saved}.`);
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'close' && session !== null && (
        <CloseForm session={session} onClose={() => setOpen(null)} closed={setSaid} />
      )}
      <span class="faint" role="status">
        {said}
      </span>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </>
  );
}

/** What a deletion takes along. */
function lossOf({ nodes }: Followed, { dimensions }: SessionDetails): string {
  const full = nodes?.filter(({ currentOutputId }) => currentOutputId !== null).length ?? 0;
  return (
    `The files of ${plural(full, 'node', 'nodes')}, ${plural(dimensions.length, 'dashboard', 'dashboards')} ` +
    'and the logs of all runs are deleted with it.'
  );
}

function useMenuItems(
  { sessionId, session, followed }: Parameters<typeof SessionActions>[0],
  act: {
    priority: number;
    open: (what: 'close' | 'delete' | 'freeze' | 'priority') => void;
    unfreeze: () => void;
  },
): MenuItem[] {
  const { freeze, operate, administrate } = useAbilities();
  const mayClose = useMayClose(session);
  const workflow = useWorkflowAddress(sessionId, operate);
  const { window } = followed;
  const items: MenuItem[] = [];
  if (freeze && window?.frozen === true)
    items.push({ label: 'Unfreeze', icon: 'play', hint: 'Waiting runs continue', act: act.unfreeze });
  if (freeze && window?.frozen === false)
    items.push({
      label: 'Freeze',
      icon: 'freeze',
      hint: 'No uploads and no new runs',
      act: () => act.open('freeze'),
    });
  if (freeze && session !== null)
    items.push({
      label: 'Priority',
      icon: 'up',
      hint: act.priority === 0 ? 'Its tasks before or after others' : `Now ${act.priority}`,
      act: () => act.open('priority'),
    });
  if (mayClose && window?.status === 'open')
    items.push({
      label: 'Close',
      icon: 'lock',
      hint: 'Participants can no longer join',
      act: () => act.open('close'),
    });
  if (workflow !== null)
    items.push({ label: 'Open the workflow in Temporal', icon: 'branch', href: workflow });
  if (administrate && session !== null)
    items.push({ label: 'Delete', icon: 'bin', danger: true, act: () => act.open('delete') });
  return items;
}
