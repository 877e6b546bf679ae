import { useState } from 'preact/hooks';
import type { Session } from '../../api.ts';
import { closeSession } from '../../api.ts';
import { timeInShownZone } from '../../days.ts';
import { formatDateTime, shownZone } from '../../format.ts';
import { useAction } from '../../hooks.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, Form, TextField } from '../../ui/form.tsx';

/** Closes the session now or at a later time. */
export function CloseForm(props: {
  session: Session;
  onClose: () => void;
  closed: (message: string) => void;
}) {
  const action = useAction();
  const [reason, setReason] = useState('');
  const [at, setAt] = useState('');
  const close = async () => {
    const closeAt = at === '' ? {} : { closeAt: timeInShownZone(at).toISOString() };
    const { closedAt } = await closeSession(props.session.id, { reason: reason.trim(), ...closeAt });
    props.closed(at === '' ? '' : `Closes at ${formatDateTime(closedAt)}.`);
    props.onClose();
  };
  return (
    <Dialog
      title={
        <>
          Close <bdi>{props.session.name}</bdi>?
        </>
      }
      onClose={props.onClose}
    >
      <Form
        action={action}
        verb="Close the session"
        onSubmit={() => void action.run(close)}
        onCancel={props.onClose}
      >
        <p>
          New participants can no longer join, and this cannot be undone. Late recordings are accepted until
          the session is frozen.
        </p>
        <AreaField label="Reason" rows={2} value={reason} onValue={setReason} />
        <TextField
          label="When"
          hint={`Leave empty to close now. At most 24 hours ahead, ${shownZone === 'UTC' ? 'in UTC' : 'by the clock of this machine'}.`}
          type="datetime-local"
          value={at}
          onValue={setAt}
        />
      </Form>
    </Dialog>
  );
}
