import { useState } from 'preact/hooks';
import type { Session, TemplateAdoption } from '../api.ts';
import { adoptTemplate } from '../api.ts';
import { useAction, useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Table } from '../ui/table.tsx';
import { differences, settingText } from './adoption-model.ts';

/** Says that the session's template has become newer, and shows what adopting it would change. */
export function NewerTemplate(props: { session: Session; changed: () => void }) {
  const { session } = props;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Notice
        tone="info"
        action={
          <button type="button" class="button button-small" onClick={() => setIsOpen(true)}>
            Show the changes
          </button>
        }
      >
        The template {titleOf(session.sessionTemplate.name)} has changed since this session was made from it.
      </Notice>
      {isOpen && <AdoptDialog session={session} changed={props.changed} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function AdoptDialog(props: { session: Session; changed: () => void; onClose: () => void }) {
  const { session } = props;
  const trial = useResource(session.id, () => adoptTemplate(session.id, true));
  const action = useAction();
  const adopt = async () => {
    if (!(await action.run(() => adoptTemplate(session.id, false)))) return;
    props.changed();
    props.onClose();
  };
  const changes = trial.data?.changes ?? [];
  return (
    <Dialog
      title={`Adopt ${titleOf(session.sessionTemplate.name)} as it is now?`}
      wide
      onClose={props.onClose}
    >
      <div class="form">
        {trial.error !== null && (
          <Failure what="The session cannot adopt it." error={trial.error} retry={trial.reload} />
        )}
        {trial.data === null && trial.error === null && <Placeholder rows={3} label="Comparing" />}
        {trial.data !== null && changes.length === 0 && <p>Nothing in this session would change.</p>}
        <ul class="adoption" aria-label="Changes">
          {changes.map((change) => (
            <Change key={`${change.node} ${change.kind}`} change={change} />
          ))}
        </ul>
        {changes.length > 0 && (
          <p class="faint">
            What was made stays. The next run of a node uses its new configuration: reprocess it to make its
            outputs anew.
          </p>
        )}
        {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
        <div class="form-end">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          {trial.data !== null && (
            <button
              type="button"
              class="button button-primary"
              aria-disabled={action.busy}
              onClick={() => void adopt()}
            >
              Adopt the template
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

const kinds = {
  configuration: 'gets another configuration',
  added: 'is added, and runs over what its parents have',
  removed: 'is removed',
  're-parented': 'gets other parents',
};

function Change({ change }: { change: TemplateAdoption['changes'][number] }) {
  const { kind, before, after } = change;
  return (
    <li>
      <p>
        <strong>{titleOf(change.node)}</strong> {kinds[kind]}
      </p>
      {kind === 'configuration' ? (
        <Settings node={change.node} before={before as Configuration} after={after as Configuration} />
      ) : (
        <div class="adoption-sides">
          <Side title="Now" value={before} />
          <Side title="Afterwards" value={after} />
        </div>
      )}
    </li>
  );
}

type Configuration = Readonly<Record<string, unknown>>;

/** The settings that differ: the others stay, however many there are. */
function Settings(props: { node: string; before: Configuration; after: Configuration }) {
  return (
    <Table caption={`Settings of ${titleOf(props.node)}`} columns={['Setting', 'Now', 'Afterwards']}>
      {differences(props.before, props.after).map(({ path, before, after }) => (
        <tr key={path}>
          <td class="mono">
            <strong>{path}</strong>
          </td>
          <td data-label="Now">
            <Value of={before} />
          </td>
          <td data-label="Afterwards">
            <Value of={after} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const Value = (props: { of: unknown }) =>
  props.of === undefined ? (
    <span class="faint">not set</span>
  ) : (
    <pre class="code-block">{settingText(props.of)}</pre>
  );

function Side({ title, value }: { title: string; value: TemplateAdoption['changes'][number]['before'] }) {
  if (value === null) return null;
  return (
    <div>
      <p class="faint">{title}</p>
      <Value of={value} />
    </div>
  );
}
