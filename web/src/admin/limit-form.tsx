import { useState } from 'preact/hooks';
import { listQueues, type Queue, removeConcurrency, saveConcurrency } from '../admin-api.ts';
import { useAction } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../ui/form.tsx';

type Kind = Queue['limits'][number]['kind'];
type Key = keyof typeof labels;

/** Limits how many tasks of a queue's node template or runner type are held at once. */
export function LimitForm(props: { queue: Queue; saved: () => void; onClose: () => void }) {
  const { queue } = props;
  const action = useAction();
  const [kind, setKind] = useState<Kind>(queue.limits[0]?.kind ?? 'nodeTemplate');
  const present = queue.limits.find((limit) => limit.kind === kind);
  const [edited, setEdited] = useState<Partial<Record<Key, string>>>({});
  const textIn = (key: Key) => edited[key] ?? textOf(present?.[key]);
  const name = kind === 'nodeTemplate' ? queue.nodeTemplate : queue.runnerType;
  const done = () => {
    props.saved();
    props.onClose();
  };
  const save = async () => {
    const latest = await latestLimit(queue, kind);
    const valueIn = (key: Key) => numberOf(edited[key] ?? textOf(latest?.[key]));
    const [max, perProject, perSession] = keys.map(valueIn);
    await saveConcurrency(name, { kind, max: max!, perProject: perProject!, perSession: perSession! });
    done();
  };
  return (
    <Dialog title={`Limit of ${queue.nodeTemplate}`} onClose={props.onClose}>
      <Form action={action} verb="Save" onSubmit={() => void action.run(save)} onCancel={props.onClose}>
        <SelectField<Kind>
          label="Limit"
          value={kind}
          options={[
            { value: 'nodeTemplate', label: `Node template ${queue.nodeTemplate}` },
            { value: 'runnerType', label: `Runner type ${queue.runnerType}, all its node templates` },
          ]}
          onValue={(next) => {
            setKind(next);
            setEdited({});
          }}
        />
        <LimitFields textIn={textIn} onText={(key, text) => setEdited({ ...edited, [key]: text })} />
        {present !== undefined && (
          <button
            type="button"
            class="button button-small"
            aria-disabled={action.busy}
            onClick={() => void action.run(() => removeConcurrency(name, kind).then(done))}
          >
            Back to what the manifest says
          </button>
        )}
      </Form>
    </Dialog>
  );
}

/** Somebody else may have changed what the form did not. */
async function latestLimit(queue: Queue, kind: Kind) {
  const { queues } = await listQueues();
  const now = queues.find(({ nodeTemplate }) => nodeTemplate === queue.nodeTemplate) ?? queue;
  return now.limits.find((limit) => limit.kind === kind);
}

function LimitFields(props: { textIn: (key: Key) => string; onText: (key: Key, text: string) => void }) {
  return (
    <>
      {keys.map((key) => (
        <TextField
          key={key}
          label={labels[key]}
          {...(key === 'max' ? { hint: 'Leave empty for any number. At 0 nothing is started.' } : {})}
          type="number"
          min={0}
          value={props.textIn(key)}
          onValue={(text) => props.onText(key, text)}
        />
      ))}
    </>
  );
}

const labels = {
  max: 'Tasks at once',
  perProject: 'Of one project',
  perSession: 'Of one session',
} as const;
const keys = ['max', 'perProject', 'perSession'] as const;

const textOf = (value: number | null | undefined) => (value == null ? '' : String(value));
const numberOf = (text: string) => (text.trim() === '' ? null : Number(text));
