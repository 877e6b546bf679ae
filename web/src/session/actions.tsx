import { useState } from 'preact/hooks';
import type { Session, SessionDetails } from '../api.ts';
import { readWorkflowUi, retryFailed, setFrozen } from '../api.ts';
import { plural } from '../format.ts';
import { type Action, useAction, useAuth, useResource } from '../hooks.ts';
import { usePageActions } from '../palette/page-actions.ts';
import { useAbilities } from '../role.ts';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Followed } from './follow.ts';

const CloseForm = lazy(() => import('./dialogs/close-form.tsx').then((module) => module.CloseForm), null);
const PriorityForm = lazy(
  () => import('./dialogs/priority-form.tsx').then((module) => module.PriorityForm),
  null,
);
const FreezeDialog = lazy(
  () => import('./dialogs/freeze-or-delete.tsx').then((module) => module.FreezeDialog),
  null,
);
const DeleteDialog = lazy(
  () => import('./dialogs/freeze-or-delete.tsx').then((module) => module.DeleteDialog),
  null,
);

/** The address of the session's workflow in Temporal's UI, if the platform knows it and the person may see it. */
function useWorkflowAddress(sessionId: string, operate: boolean): string | null {
  const ui = useResource(String(operate), (signal) =>
    operate ? readWorkflowUi(signal) : Promise.resolve(null),
  );
  if (ui.data === null || ui.data.url === null) return null;
  const { url, namespace } = ui.data;
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/session-${sessionId}`;
}

interface ActionsProps {
  sessionId: string;
  /** Null until it is read. */
  session: SessionDetails | null;
  followed: Followed;
  /** Reads the session again. */
  reload: () => void;
}

/** The dialogs that items of the menu open. */
type Opened = 'close' | 'delete' | 'freeze' | 'priority';

/** Actions on the session as a whole. Its live events show their results. */
export function SessionActions(props: ActionsProps) {
  const { sessionId, session } = props;
  const [open, setOpen] = useState<Opened | null>(null);
  const [message, setMessage] = useState('');
  const action = useAction();
  const freeze = (frozen: boolean) => setFrozen(sessionId, frozen).then(() => setMessage(''));
  const items = useMenuItems(props, {
    open: setOpen,
    unfreeze: () => void action.run(() => freeze(false)),
  });
  usePageActions(items.flatMap(({ label, act }) => (act === undefined ? [] : [{ label, act }])));
  const close = () => setOpen(null);
  return (
    <>
      <RetryFailed {...props} action={action} setMessage={setMessage} />
      <Menu label="More actions" items={items} />
      {open === 'freeze' && <FreezeDialog session={session} freeze={() => freeze(true)} onClose={close} />}
      {open === 'delete' && session !== null && <DeleteDialog session={session} onClose={close} />}
      {open === 'priority' && session !== null && (
        <PriorityForm
          session={session}
          saved={(saved) => {
            props.reload();
            setMessage(`Priority ${saved}.`);
          }}
          onClose={close}
        />
      )}
      {open === 'close' && session !== null && (
        <CloseForm session={session} onClose={close} closed={setMessage} />
      )}
      <span class="faint" role="status">
        {message}
      </span>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
    </>
  );
}

/** Shown to those who may, while runs have failed. */
function RetryFailed(props: ActionsProps & { action: Action; setMessage: (message: string) => void }) {
  const { followed, action } = props;
  const { operate } = useAbilities();
  const hasFailed = followed.nodes?.some((node) => node.state === 'Failed') === true;
  if (!operate || !hasFailed || followed.window?.frozen === true) return null;
  const retryAll = async () => {
    const retried = await retryFailed(props.sessionId);
    props.setMessage(
      retried === 0 ? 'No run could be retried.' : `${plural(retried, 'run', 'runs')} retried.`,
    );
  };
  return (
    <button
      type="button"
      class="button button-small"
      aria-disabled={action.busy}
      onClick={() => void action.run(retryAll)}
    >
      <Icon name="reset" />
      Retry all failed
    </button>
  );
}

function useMenuItems(
  { sessionId, session, followed }: ActionsProps,
  act: {
    open: (what: Opened) => void;
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
      hint: session.priority === 0 ? 'Its tasks before or after others' : `Now ${session.priority}`,
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

/** True for people who may close the session: Administrators and its participants. */
function useMayClose(session: Session | null): boolean {
  const user = useAuth().signIn?.user;
  if (session === null || user === undefined) return false;
  if (user.role === 'Administrator') return true;
  const own = new Set([user.userId.toLowerCase(), user.email.toLowerCase()].filter((text) => text !== ''));
  const isOwn = (text: unknown) => typeof text === 'string' && own.has(text.toLowerCase());
  const participants = session.metadata?.participants;
  const isParticipant =
    Array.isArray(participants) && participants.some((item) => isOwn(item?.id) || isOwn(item?.email));
  return isOwn(session.email) || isParticipant;
}
