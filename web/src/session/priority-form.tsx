import { useState } from 'preact/hooks';
import { savePriority } from '../api.ts';
import { useAction } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, TextField } from '../ui/form.tsx';

/** Of a session or project. */
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

/** Changes by how much the session's tasks come before or after others. */
export function PriorityForm(props: {
  session: { readonly id: string; readonly name: string; readonly priority: number };
  saved: (priority: number) => void;
  onClose: () => void;
}) {
  const { session } = props;
  const action = useAction();
  const [text, setText] = useState(String(session.priority));
  const save = async () => {
    await savePriority(session.id, Number(text));
    props.saved(Number(text));
    props.onClose();
  };
  return (
    <Dialog title={`Priority of ${session.name}`} onClose={props.onClose}>
      <Form action={action} verb="Save" onSubmit={() => void action.run(save)} onCancel={props.onClose}>
        <PriorityField value={text} onValue={setText} />
      </Form>
    </Dialog>
  );
}
