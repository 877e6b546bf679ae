import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { useAction, useAuth, useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import {
  type NodeConfiguration,
  readConfiguration,
  readConfigurationSchema,
  saveConfiguration,
} from '../runs/api.ts';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import { faultOf } from './fault-words.ts';
import { keepDraft, keptDraft } from './kept-drafts.ts';
import { Overtaken, Refusal } from './refusal.tsx';
import { Revisions } from './revisions.tsx';
import { SchemaFields } from './schema-fields.tsx';
import { type Draft, drafted, draftOf, fieldsOf, keyOf, leavesOf } from './schema-form.ts';

interface NodeProps {
  nodeInstanceId: number;
  frozen: boolean;
  /** The node can be reprocessed. */
  canRerun: boolean;
}

/** A node's configuration as a form, and the configurations that it had. */
export function NodeConfigurationPart(props: NodeProps & { opens: boolean }) {
  const [isOpen, setIsOpen] = useState(props.opens);
  useEffect(() => {
    if (props.opens) setIsOpen(true);
  }, [props.opens]);
  const [saved, setSaved] = useState<'' | 'saved' | 'rerun'>('');
  const { operate } = useAbilities();
  const both = useConfiguration(props.nodeInstanceId);
  const revision = both.data?.configuration.revision;
  return (
    <details
      class="panel-part configuration"
      open={isOpen}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        Configuration {revision !== undefined && <span class="tag">revision {revision}</span>}
      </summary>
      <Loaded
        of={both}
        failure="The configuration could not be read."
        rows={2}
        label="Loading the configuration"
      >
        {({ configuration, schema }) =>
          isOpen && (
            <ConfigurationForm
              key={configuration.revision}
              {...props}
              present={configuration}
              schema={schema}
              reload={both.reload}
              saved={setSaved}
            />
          )
        }
      </Loaded>
      {saved !== '' && (
        <p class="faint" role="status">
          {saved === 'rerun'
            ? 'Saved; the node runs again with it.'
            : `Saved for every run that has not started.${operate ? '' : ' To start one, upload a file or ask a Developer.'}`}
        </p>
      )}
    </details>
  );
}

function useConfiguration(nodeInstanceId: number) {
  return useResource(String(nodeInstanceId), async (signal) => {
    const [configuration, { schema }] = await Promise.all([
      readConfiguration(nodeInstanceId, signal),
      readConfigurationSchema(nodeInstanceId, signal),
    ]);
    return { configuration, schema };
  });
}

interface FormProps extends NodeProps {
  present: NodeConfiguration;
  schema: Readonly<Record<string, unknown>>;
  reload: () => void;
  saved: (how: 'saved' | 'rerun') => void;
}

function ConfigurationForm(props: FormProps) {
  const { nodeInstanceId, present, frozen } = props;
  const { operate } = useAbilities();
  const edit = useDraft(props);
  const reruns = operate && props.canRerun;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (edit.canSave) void edit.save(reruns);
      }}
    >
      {edit.fields.length === 0 && <p class="faint">This node has nothing to configure.</p>}
      <SchemaFields
        fields={edit.fields}
        draft={edit.draft}
        faults={edit.faults}
        disabled={frozen}
        change={edit.change}
      />
      {edit.isOvertaken && <Overtaken reload={edit.reload} />}
      {edit.refusal !== null && !edit.isOvertaken && (
        <Refusal refusal={edit.refusal} fields={edit.refusedFields} reload={edit.reload} />
      )}
      {edit.action.problem !== null && <Notice tone="error">{edit.action.problem}</Notice>}
      {frozen && <p class="faint">The session is frozen: its configurations cannot be changed.</p>}
      {!frozen && edit.fields.length > 0 && <SaveButtons edit={edit} reruns={reruns} undo={edit.undo} />}
      <Revisions nodeInstanceId={nodeInstanceId} present={present.revision} use={frozen ? null : edit.show} />
    </form>
  );
}

function SaveButtons(props: { edit: ReturnType<typeof useDraft>; reruns: boolean; undo: () => void }) {
  const { edit, reruns } = props;
  return (
    <div class="actions">
      {reruns && (
        <button
          type="submit"
          class="button button-small button-primary"
          disabled={!edit.canSave}
          aria-disabled={edit.action.busy}
          title="Saves it, and runs the node again over its latest inputs"
        >
          <Icon name="play" />
          Change and rerun
        </button>
      )}
      <button
        type="button"
        class="button button-small"
        disabled={!edit.canSave}
        aria-disabled={edit.action.busy}
        title="For every run that has not started, and all later ones"
        onClick={() => void edit.save(false)}
      >
        Save
      </button>
      {edit.isTyped && (
        <button type="button" class="button button-small button-quiet" onClick={props.undo}>
          Undo
        </button>
      )}
    </div>
  );
}

interface KeptDraft {
  /** What was typed changes this one. */
  readonly revision: number;
  readonly shown: NodeConfiguration['configuration'];
  readonly draft: Draft;
}

/** What the person typed and has not saved, also since an earlier revision. */
function useKept({ nodeInstanceId, present, frozen }: FormProps) {
  const key = `${useAuth().signIn?.user.userId} configuration ${nodeInstanceId}`;
  const [kept] = useState(() => (frozen ? null : keptDraft<KeptDraft>(key)));
  const [revision, setRevision] = useState(kept?.revision ?? present.revision);
  return {
    kept,
    revision,
    setRevision,
    keep: (draft: Omit<KeptDraft, 'revision'> | null) => keepDraft(key, draft && { ...draft, revision }),
  };
}

/** What is typed into the form, over which revision. */
function useTyped(props: FormProps) {
  const { present, schema } = props;
  const { kept, keep, revision, setRevision } = useKept(props);
  const [shown, setShown] = useState(kept?.shown ?? present.configuration);
  const fields = useMemo(() => fieldsOf(schema, shown), [schema, shown]);
  const [draft, setDraft] = useState<Draft>(() => kept?.draft ?? draftOf(fields, present.configuration));
  const isTyped = JSON.stringify(draft) !== JSON.stringify(untouched(schema, present));
  // At once: the person may leave the page with the next key.
  useLayoutEffect(() => keep(isTyped ? { shown, draft } : null), [draft, shown]);
  const show = (configuration: NodeConfiguration['configuration']) => {
    setShown(configuration);
    setDraft(draftOf(fieldsOf(schema, configuration), configuration));
  };
  return {
    fields,
    draft,
    setDraft,
    isTyped,
    revision,
    isOvertaken: revision !== present.revision,
    show,
    undo: () => {
      setRevision(present.revision);
      show(present.configuration);
    },
    forget: () => keep(null),
  };
}

/** What is typed into the form, its faults, and how it is saved. */
function useDraft(props: FormProps) {
  const { nodeInstanceId, present, schema, frozen, saved } = props;
  const { setDraft, forget, ...typed } = useTyped(props);
  const { fields, draft, revision } = typed;
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const action = useAction();
  const made = drafted(fields, draft);
  const isChanged = JSON.stringify(made.configuration) !== JSON.stringify(startOf(schema, present));
  const { ofFields, count } = faultsOf(refusal, fields);
  return {
    ...typed,
    faults: { ...ofFields, ...made.faults },
    refusal,
    refusedFields: count,
    action,
    canSave: !frozen && isChanged && Object.keys(made.faults).length === 0,
    /** Shows the present revision, in place of what was typed. */
    reload: () => {
      setRefusal(null);
      typed.undo();
      props.reload();
    },
    change: (key: string, text: string) => {
      setRefusal(null);
      setDraft({ ...draft, [key]: text });
    },
    save: (rerun: boolean) =>
      action.run(async () => {
        setRefusal(null);
        const saving = saveConfiguration(nodeInstanceId, revision, made.configuration, rerun);
        const refused = await refusalOf(saving);
        if (refused !== null) return setRefusal(refused);
        saved(rerun ? 'rerun' : 'saved');
        forget();
        props.reload();
      }),
  };
}

const refusalOf = (work: Promise<unknown>): Promise<ApiError | null> =>
  work.then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return error;
    },
  );

/** What the platform refused, by the field that it is about; the count is 0 where the fields do not say all of it. */
function faultsOf(refusal: ApiError | null, fields: ReturnType<typeof fieldsOf>) {
  const known = new Set(leavesOf(fields).map(({ path }) => keyOf(path)));
  const refused = (refusal?.issues ?? []).map(faultOf);
  const ofFields = refused.filter(([key]) => known.has(key));
  const byField = Object.fromEntries(ofFields);
  const areAll = ofFields.length === refused.length;
  return { ofFields: byField, count: areAll ? Object.keys(byField).length : 0 };
}

/** The configuration as an untouched form makes it: without what the form leaves out. */
function startOf(schema: Readonly<Record<string, unknown>>, present: NodeConfiguration) {
  return drafted(fieldsOf(schema, present.configuration), untouched(schema, present)).configuration;
}

const untouched = (schema: Readonly<Record<string, unknown>>, { configuration }: NodeConfiguration): Draft =>
  draftOf(fieldsOf(schema, configuration), configuration);
