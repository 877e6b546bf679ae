import { useState } from 'preact/hooks';
import type { TemplateAdoption } from '../../../client/types.ts';
import type { Session } from '../api.ts';
import { adoptTemplate } from '../api.ts';
import { useAction, useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { NodeChangeItem, type SideTitles } from '../templates/change-item.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';

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
  return (
    <Dialog
      title={`Adopt ${titleOf(session.sessionTemplate.name)} as it is now?`}
      wide
      onClose={props.onClose}
    >
      <div class="form">
        <Loaded of={trial} failure="The session cannot adopt it." rows={3} label="Comparing">
          {({ changes }) => <Changes changes={changes} />}
        </Loaded>
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

function Changes({ changes }: Pick<TemplateAdoption, 'changes'>) {
  return (
    <>
      {changes.length === 0 && <p>Nothing in this session would change.</p>}
      <ul class="differences" aria-label="Changes">
        {changes.map((change) => (
          <NodeChangeItem
            key={`${change.node} ${change.kind}`}
            change={change}
            words={change.edited ? edited : kinds}
            titles={titles}
          />
        ))}
      </ul>
      {changes.length > 0 && (
        <p class="faint">
          What was made stays. The next run of a node uses its new configuration: reprocess it to make its
          outputs anew.
        </p>
      )}
    </>
  );
}

const titles: SideTitles = ['Now', 'Afterwards'];
const kinds = {
  configuration: 'gets another configuration',
  added: 'is added, and runs over what its parents have',
  removed: 'is removed',
  're-parented': 'gets other parents',
};
const edited = { ...kinds, configuration: 'loses what people changed here' };
