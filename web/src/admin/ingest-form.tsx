import { useEffect, useState } from 'preact/hooks';
import type { Ingest, IngestWithSecret } from '../admin-api.ts';
import { changeIngest, createIngest } from '../admin-api.ts';
import { useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { readTemplate } from '../templates/api.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { CheckField, FormDialog, SelectField, TextField } from '../ui/form.tsx';

const behaviours: readonly { value: Ingest['creationBehaviour']; label: string }[] = [
  { value: 'NewSession', label: 'New session per file' },
  { value: 'LatestSession', label: 'Latest open session' },
];
const dataTypes = (['Any', 'Csv', 'Json', 'Binary'] as const).map((value) => ({ value, label: value }));

/** The objects that ingests refer to. */
export interface IngestWorld {
  projects: readonly { id: number; title: string }[];
  templates: readonly { id: number; name: string }[];
  dataSources: readonly { name: string }[];
}

function fieldsOf(ingest: Ingest | null, world: IngestWorld) {
  return {
    urlPath: ingest?.urlPath ?? '',
    projectId: ingest?.projectId ?? world.projects[0]?.id ?? 0,
    sessionTemplateId: ingest?.sessionTemplateId ?? world.templates[0]?.id ?? 0,
    inputNode: ingest?.inputNode ?? '',
    dataSource: ingest?.dataSource ?? world.dataSources[0]?.name ?? '',
    creationBehaviour: ingest?.creationBehaviour ?? 'NewSession',
    ingestDataType: ingest?.ingestDataType ?? 'Any',
    allowAnonymous: ingest?.allowAnonymous ?? false,
  };
}

type Fields = ReturnType<typeof fieldsOf>;

/** Makes or changes an ingest. `saved` gets the ingest with its secret when it is new. */
export function IngestForm(props: {
  ingest: Ingest | null;
  world: IngestWorld;
  saved: (made: IngestWithSecret | null) => void;
  onClose: () => void;
}) {
  const { ingest, world } = props;
  const [fields, setFields] = useState(() => fieldsOf(ingest, world));
  const set = (part: Partial<Fields>) => setFields((before) => ({ ...before, ...part }));
  const save = async () => {
    if (ingest === null) props.saved(await createIngest(fields));
    else {
      await changeIngest(ingest.id, changedFields(fieldsOf(ingest, world), fields));
      props.saved(null);
    }
  };
  return (
    <FormDialog
      title={ingest === null ? 'New ingest' : `Edit ${ingest.urlPath}`}
      verb={ingest === null ? 'Create ingest' : 'Save'}
      names={{ urlPath: 'Path' }}
      save={save}
      onClose={props.onClose}
    >
      <TextField
        label="Path"
        hint="1 to 8 segments of a-z, 0-9, - and _, joined by slashes."
        required
        value={fields.urlPath}
        onValue={(urlPath) => set({ urlPath })}
      />
      <UploadFields fields={fields} world={world} set={set} />
      <CheckField
        label="Accept uploads without a token (testing only)"
        checked={fields.allowAnonymous}
        onChecked={(allowAnonymous) => set({ allowAnonymous })}
      />
    </FormDialog>
  );
}

/** Where an upload goes, and what it holds. */
function UploadFields(props: { fields: Fields; world: IngestWorld; set: (part: Partial<Fields>) => void }) {
  const { fields, world, set } = props;
  const inputs = useInputNodes(fields.sessionTemplateId);
  useEffect(() => {
    if (inputs.length > 0 && !inputs.includes(fields.inputNode)) set({ inputNode: inputs[0]! });
  }, [inputs.join('\n')]);
  return (
    <div class="fields">
      <SelectField
        label="Project"
        value={String(fields.projectId)}
        options={world.projects.map(({ id, title }) => ({ value: String(id), label: title }))}
        onValue={(id) => set({ projectId: Number(id) })}
      />
      <SelectField
        label="Template"
        value={String(fields.sessionTemplateId)}
        options={world.templates.map(({ id, name }) => ({ value: String(id), label: titleOf(name) }))}
        onValue={(id) => set({ sessionTemplateId: Number(id) })}
      />
      <SelectField
        label="Input node"
        required
        value={fields.inputNode}
        options={inputs.map((name) => ({ value: name, label: titleOf(name) }))}
        onValue={(inputNode) => set({ inputNode })}
      />
      <SelectField
        label="Data source"
        value={fields.dataSource}
        options={world.dataSources.map(({ name }) => ({ value: name, label: name }))}
        onValue={(dataSource) => set({ dataSource })}
      />
      <SelectField
        label="Creation behaviour"
        value={fields.creationBehaviour}
        options={behaviours}
        onValue={(creationBehaviour) => set({ creationBehaviour })}
      />
      <SelectField
        label="Data type"
        value={fields.ingestDataType}
        options={dataTypes}
        onValue={(ingestDataType) => set({ ingestDataType })}
      />
    </div>
  );
}

/** Names of a template's nodes that accept uploads. */
function useInputNodes(templateId: number): string[] {
  const template = useResource(String(templateId), (signal) => readTemplate(templateId, signal));
  return (template.data?.nodes ?? [])
    .filter(({ parentNames }) => parentNames.length === 0)
    .map(({ name }) => name);
}
