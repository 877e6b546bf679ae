import { useState } from 'preact/hooks';
import { defaultSessionName } from '../../../client/session-name.ts';
import type { SessionTemplate } from '../../../client/types.ts';
import { createSession } from '../api.ts';
import { formatDateTime } from '../format.ts';
import { useAction } from '../hooks.ts';
import { titleOf } from '../names.ts';
import type { QueryWorld } from '../query/model.ts';
import { navigate } from '../router.ts';
import { MetadataFields, useMetadataKeys } from '../session/metadata-fields.tsx';
import { changesOf, type Draft, withChanges } from '../session/metadata-model.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../ui/form.tsx';

const defaultName = (template: Pick<SessionTemplate, 'name'> | undefined) =>
  defaultSessionName(titleOf(template?.name ?? 'Session'), formatDateTime(new Date().toISOString()));

/** Makes a session and opens it. */
export function NewSession(props: { world: QueryWorld; projectId: number | null; onClose: () => void }) {
  const { projects, templates } = props.world;
  const action = useAction();
  const [name, setName] = useState('');
  const { projectId, templateId, setProject, setTemplate } = useChoice(props.world, props.projectId);
  const [drafts, setDrafts] = useState<readonly Draft[]>([]);
  const template = templates.find(({ id }) => String(id) === templateId);
  const keys = useMetadataKeys(projectId === '' ? null : Number(projectId));
  const make = async () => {
    const changes = changesOf(drafts, []);
    const id = await createSession({
      Name: name.trim() || defaultName(template),
      ProjectId: Number(projectId),
      SessionTemplateId: Number(templateId),
      ...(changes.length === 0 ? {} : { Metadata: withChanges(null, changes) }),
    });
    props.onClose();
    navigate(`/sessions/${id}`);
  };
  return (
    <Dialog title="New session" onClose={props.onClose}>
      <Form
        action={action}
        verb="Create session"
        onSubmit={() => void action.run(make)}
        onCancel={props.onClose}
      >
        <TextField label="Name" hint={`Default: ${defaultName(template)}.`} value={name} onValue={setName} />
        <SelectField
          label="Project"
          value={projectId}
          options={projects.map(({ id, title }) => ({ value: String(id), label: title }))}
          onValue={setProject}
        />
        <SelectField
          label="Template"
          hint="The graph of nodes; the input node receives the recordings."
          value={templateId}
          options={templates.map((one) => ({ value: String(one.id), label: titleOf(one.name) }))}
          onValue={setTemplate}
        />
        <fieldset class="field">
          <legend>Metadata</legend>
          <MetadataFields drafts={drafts} keys={keys} onDrafts={setDrafts} />
        </fieldset>
      </Form>
    </Dialog>
  );
}

/** The chosen project and template; another project brings its own template. */
function useChoice({ projects, templates }: QueryWorld, shownProjectId: number | null) {
  const [projectId, setProjectId] = useState(String(shownProjectId ?? projects[0]?.id ?? ''));
  const preferred = (id: string) => {
    const own = projects.find((project) => String(project.id) === id)?.defaultSessionTemplateId;
    return String(own ?? templates[0]?.id ?? '');
  };
  const [templateId, setTemplate] = useState(preferred(projectId));
  const setProject = (id: string) => {
    setProjectId(id);
    setTemplate(preferred(id));
  };
  return { projectId, templateId, setProject, setTemplate };
}
