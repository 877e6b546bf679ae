import { useState } from 'preact/hooks';
import type { Project, SessionView } from '../api.ts';
import { useAction, useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { useAddress } from '../router.ts';
import { DeleteButton } from '../ui/buttons.tsx';
import { DeleteNamed, Dialog } from '../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { deleteSessionView, listSessionViews, saveSessionView } from './views-api.ts';

/** The views that were saved, as chips beside the title; the present one can be saved or changed. */
export function SavedViews(props: { projects: readonly Project[] }) {
  const { query } = useAddress();
  const { administrate } = useAbilities();
  const [editing, setEditing] = useState<SessionView | 'new' | null>(null);
  const views = useResource('session-views', listSessionViews);
  const present = viewText(query);
  const shown = (views.data ?? []).map((view) => ({ view, text: viewText(new URLSearchParams(view.query)) }));
  const chosen = shown.find(({ text }) => text === present)?.view;
  return (
    <div class="saved-views">
      {shown.length > 0 && (
        <ul aria-label="Saved views">
          {shown.map(({ view, text }) => (
            <li key={view.id}>
              <ViewLink view={view} text={text} chosen={view === chosen} projects={props.projects} />
            </li>
          ))}
        </ul>
      )}
      {chosen !== undefined && (chosen.isOwn || administrate) && (
        <button type="button" class="button button-small button-quiet" onClick={() => setEditing(chosen)}>
          Edit view
        </button>
      )}
      {views.data !== null && chosen === undefined && present !== '' && (
        <button type="button" class="button button-small button-quiet" onClick={() => setEditing('new')}>
          <Icon name="plus" />
          Save view
        </button>
      )}
      {editing !== null && (
        <ViewDialog
          view={editing === 'new' ? null : editing}
          query={present}
          projects={props.projects}
          onClose={() => setEditing(null)}
          saved={() => {
            setEditing(null);
            views.reload();
          }}
        />
      )}
    </div>
  );
}

function ViewLink(props: {
  view: SessionView;
  /** Its part of the address. */
  text: string;
  chosen: boolean;
  projects: readonly Project[];
}) {
  const { view, text } = props;
  return (
    <a
      class="saved-view"
      href={text === '' ? '/sessions' : `/sessions?${text}`}
      title={scopeWords(view, props.projects)}
      {...(props.chosen ? { 'aria-current': 'page' } : {})}
    >
      {view.name}
    </a>
  );
}

const parameters = new Set('tab search project template from to sortBy sortOrder query orderBy'.split(' '));

/** What of an address makes a view: not the page. */
function viewText(query: URLSearchParams): string {
  const rest = new URLSearchParams(query);
  for (const name of query.keys()) if (!parameters.has(name)) rest.delete(name);
  rest.sort();
  return rest.toString();
}

function scopeWords(view: SessionView, projects: readonly Project[]): string {
  const by = view.isOwn || view.createdByName === null ? '' : `, saved by ${view.createdByName}`;
  if (view.scope === 'mine') return 'Only you see this view';
  if (view.scope === 'everyone') return `For everyone${by}`;
  const project = projects.find(({ id }) => id === view.projectId);
  return `For project ${project?.title ?? view.projectId}${by}`;
}

const scopes = [
  { value: 'mine', label: 'Only me' },
  { value: 'project', label: 'Everyone, as a view of a project' },
  { value: 'everyone', label: 'Everyone' },
] as const;

function ViewDialog(props: {
  /** Null: a new one. */
  view: SessionView | null;
  query: string;
  projects: readonly Project[];
  saved: () => void;
  onClose: () => void;
}) {
  const { view, projects } = props;
  const filtered = Number(new URLSearchParams(props.query).get('project'));
  const [name, setName] = useState(view?.name ?? '');
  const [scope, setScope] = useState<SessionView['scope']>(view?.scope ?? 'mine');
  const [projectId, setProjectId] = useState(view?.projectId ?? (filtered || (projects[0]?.id ?? 0)));
  const [deletes, setDeletes] = useState(false);
  const action = useAction();
  const save = async () => {
    const fields = { name, scope, projectId: scope === 'project' ? projectId : null, query: props.query };
    if (await action.run(() => saveSessionView(view?.id ?? null, fields))) props.saved();
  };
  if (view !== null && deletes)
    return (
      <DeleteNamed
        name={view.name}
        what="view"
        remove={() => deleteSessionView(view.id).then(props.saved)}
        onClose={() => setDeletes(false)}
      >
        {view.scope === 'mine' ? 'Only you see it.' : 'Others use it too.'} Sessions stay.
      </DeleteNamed>
    );
  return (
    <Dialog title={view === null ? 'Save view' : 'Edit view'} onClose={props.onClose}>
      <Form action={action} verb="Save view" onSubmit={() => void save()} onCancel={props.onClose}>
        <TextField label="Name" required value={name} onValue={setName} />
        <SelectField label="Who sees it" value={scope} onValue={setScope} options={scopes} />
        {scope === 'project' && (
          <SelectField
            label="Project"
            value={String(projectId)}
            onValue={(next) => setProjectId(Number(next))}
            options={projects.map(({ id, title }) => ({ value: String(id), label: title }))}
          />
        )}
        {view !== null && <DeleteButton what="view" onClick={() => setDeletes(true)} />}
      </Form>
    </Dialog>
  );
}
