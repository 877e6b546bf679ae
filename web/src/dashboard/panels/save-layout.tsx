import { useState } from 'preact/hooks';
import {
  type Dashboard,
  type Layout,
  type LayoutHead,
  type NewLayout,
  readSession,
  type Session,
} from '../../api.ts';
import { createLayout, replaceLayout } from '../../dashboard-api.ts';
import { useAction } from '../../hooks.ts';
import { isMissing, isOvertaken } from '../../http.ts';
import { useAbilities } from '../../role.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../../ui/form.tsx';
import { type LayoutForm, storedForm } from './model.ts';

type Scope = LayoutHead['scope'];
/** The project or the session template that a layout is for. */
type Owners = Pick<LayoutHead, 'projectId' | 'sessionTemplateId'>;
const scopes: readonly { value: Scope; label: string }[] = [
  { value: 'mine', label: 'Me, on every dashboard' },
  { value: 'template', label: 'Everyone, on dashboards of this session template' },
  { value: 'project', label: 'Everyone, on dashboards of this project' },
  { value: 'everyone', label: 'Everyone, on every dashboard' },
];

const deleted = 'The layout was deleted meanwhile. Save it once more to keep it as a new one.';
const overtaken =
  'Someone changed the layout meanwhile. Save once more to keep yours as a new one, or untick that to replace theirs.';

/** Saves the open layout: over the one that was opened, or as a new one. */
export function SaveLayout(props: {
  dashboard: Dashboard;
  head: LayoutHead | null;
  layout: LayoutForm;
  onSaved: (layout: Layout) => void;
  onClose: () => void;
}) {
  const { dashboard, head, layout } = props;
  const mayShare = useAbilities().changeProjects;
  const [name, setName] = useState(head?.name ?? dashboard.sessionName);
  const [scope, setScope] = useState<Scope>(head?.scope ?? 'mine');
  const [isNew, setIsNew] = useState(head?.mayChange !== true);
  const replace = useReplacing(head, () => setIsNew(true));
  const action = useAction();
  const save = () =>
    action.run(async () => {
      const session = await readSession(dashboard.sessionId);
      const isSame = head !== null && !isNew && head.scope === scope;
      const owners = isSame ? ownersOf(head) : ownersFor(scope, session);
      const fields = { name, scope, ...owners, layout: storedForm(layout) };
      props.onSaved(await (isNew || head === null ? createLayout(fields) : replace(head.id, fields)));
      props.onClose();
    });
  return (
    <Dialog title="Save layout" onClose={props.onClose}>
      <Form action={action} verb="Save layout" onSubmit={() => void save()} onCancel={props.onClose}>
        <TextField label="Name" required value={name} onValue={setName} />
        <SelectField
          label="For"
          hint="A dashboard opens with the first that fits: mine, template, project, everyone."
          value={scope}
          options={mayShare ? scopes : scopes.slice(0, 1)}
          onValue={setScope}
        />
        {head?.mayChange === true && (
          <CheckField
            label={`Keep ${head.name} and save a new layout`}
            checked={isNew}
            onChecked={setIsNew}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** Replaces the layout as it was opened; once others have changed or deleted it, whatever it is then. */
function useReplacing(head: LayoutHead | null, refused: () => void) {
  const [revision, setRevision] = useState(head?.revision ?? null);
  return (id: number, fields: NewLayout) =>
    replaceLayout(id, revision, fields).catch((error: unknown) => {
      if (!isMissing(error) && !isOvertaken(error)) throw error;
      setRevision(null);
      refused();
      throw new Error(isMissing(error) ? deleted : overtaken);
    });
}

const ownersOf = ({ projectId, sessionTemplateId }: Owners): Owners => ({ projectId, sessionTemplateId });

const ownersFor = (scope: Scope, session: Session): Owners => ({
  projectId: scope === 'project' ? session.projectId : null,
  sessionTemplateId: scope === 'template' ? session.sessionTemplateId : null,
});
