import { useState } from 'preact/hooks';
import { readSession, savePriority } from '../../api.ts';
import { useAction, useResource } from '../../hooks.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';

/** The field for the priority of a session or project. */
export function PriorityField(props: { value: string; onValue: (value: string) => void }) {
  return (
    <TextField
      label="Priority"
      hint="-10 to 10. Each step moves what is queued by a minute of waiting. Those of project and session are added."
      type="number"
      required
      min={-10}
      max={10}
      {...props}
    />
  );
}

/** Changes by how much the session's tasks come before or after others. Others may have changed it since the page was read. */
export function PriorityForm(props: {
  session: { readonly id: string; readonly name: string };
  saved: (priority: number) => void;
  onClose: () => void;
}) {
  const { session } = props;
  const present = useResource(`priority ${session.id}`, (signal) => readSession(session.id, signal));
  return (
    <Dialog title={`Priority of ${session.name}`} onClose={props.onClose}>
      <Loaded of={present} failure="The priority could not be read." rows={1} label="Loading the priority">
        {({ id, priority }) => (
          <Editor sessionId={id} present={priority} saved={props.saved} onClose={props.onClose} />
        )}
      </Loaded>
    </Dialog>
  );
}

function Editor(props: {
  sessionId: string;
  present: number;
  saved: (priority: number) => void;
  onClose: () => void;
}) {
  const action = useAction();
  const [text, setText] = useState(String(props.present));
  const save = async () => {
    await savePriority(props.sessionId, Number(text));
    props.saved(Number(text));
    props.onClose();
  };
  return (
    <Form action={action} verb="Save" onSubmit={() => void action.run(save)} onCancel={props.onClose}>
      <PriorityField value={text} onValue={setText} />
    </Form>
  );
}
