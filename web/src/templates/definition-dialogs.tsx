import { useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';
import {
  importTemplate,
  readTemplateVersion,
  type SessionTemplateImportable,
  type SessionTemplateImported,
  validateTemplate,
} from './api.ts';
import { JsonEditor } from './json-editor.tsx';
import { JsonFileButton } from './json-file-button.tsx';
import { type Fault, placeOf, syntaxFault } from './json-places.ts';
import '../styles/template.css';

/** The newest version as a definition file, to be changed: the platform checks it and makes the next version of it. */
export function NewVersion(props: {
  templateId: number;
  version: number;
  made: (imported: SessionTemplateImported) => void;
  onClose: () => void;
}) {
  const { templateId, version } = props;
  const send = useUpdating(version);
  const stored = useResource(`${templateId} ${version}`, (signal) =>
    readTemplateVersion(templateId, version, signal),
  );
  return (
    <Dialog title="New version" wide onClose={props.onClose}>
      <Loaded of={stored} failure="The definition could not be read." rows={6} label="Loading the definition">
        {({ definition }) => (
          <Editor
            text={`${JSON.stringify(definition, null, 2)}\n`}
            send={(changed) => send(changed, definition.Name)}
            check={(changed) => validateTemplate(asUpdate(changed))}
            valid={(would) => versionWords(would, version)}
            hint="Configurations and the description may change: later sessions get them. Other nodes or parents need another Name, which makes a new template."
            verb="Make the version"
            nothing="no version was made"
            made={props.made}
            onClose={props.onClose}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

/** Sends a definition that was read at `version`; where others have made a later one, only when it is sent again. */
function useUpdating(version: number) {
  const [known, setKnown] = useState(version);
  return async (changed: unknown, name: string) => {
    const definition = asUpdate(changed);
    const would = await validateTemplate(definition);
    const newest = would.version - 1;
    if (would.name === name && newest > known) {
      setKnown(newest);
      throw new Error(
        `Someone made version ${newest} meanwhile. Make the version once more to replace its changes by yours, or open this window again.`,
      );
    }
    return importTemplate(definition);
  };
}

function versionWords(would: SessionTemplateImportable, version: number): string {
  if (would.created) return `The definition is valid. It makes the new template ${would.name}.`;
  return would.version > version
    ? `The definition is valid. It makes version ${would.version}.`
    : `Nothing differs from version ${would.version}.`;
}

const blank = `{
  "TemplateVersion": "1.0.0",
  "Name": "",
  "Description": "",
  "Configuration": {},
  "Nodes": [
    {
      "Name": "upload",
      "NodeTemplateName": "input-node",
      "DefaultConfiguration": { "dataSourceName": "platform" },
      "Parents": []
    }
  ]
}
`;

/** A definition file that is not stored yet. */
export function ImportDefinition(props: {
  imported: (imported: SessionTemplateImported) => void;
  onClose: () => void;
}) {
  return (
    <Dialog title="Import a definition" wide onClose={props.onClose}>
      <Editor
        text={blank}
        send={importTemplate}
        check={validateTemplate}
        valid={({ name }) => `The definition is valid. It makes the new template ${name}.`}
        hint="It makes a new template. To change a template, open it and make a new version."
        verb="Import"
        nothing="nothing was imported"
        made={props.imported}
        onClose={props.onClose}
      />
    </Dialog>
  );
}

interface EditorProps {
  text: string;
  send: (definition: unknown) => Promise<SessionTemplateImported>;
  check: (definition: unknown) => Promise<SessionTemplateImportable>;
  /** What to say of a definition without a fault. */
  valid: (would: SessionTemplateImportable) => string;
  hint: string;
  verb: string;
  /** What stands behind the number of faults. */
  nothing: string;
  made: (imported: SessionTemplateImported) => void;
  onClose: () => void;
}

function Editor(props: EditorProps) {
  const { action, text, faults, message, setMessage, change, run } = useDefinition(props.text);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        run(async (definition) => props.made(await props.send(definition)));
      }}
    >
      <JsonEditor
        label="Definition"
        value={text}
        faults={faults}
        faultsTitle={`${plural(faults.length, 'fault', 'faults')}: ${props.nothing}`}
        onValue={change}
      />
      <p class="faint">{props.hint}</p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {message !== '' && <Notice tone="done">{message}</Notice>}
      <div class="form-end">
        <JsonFileButton
          title="Choose a file"
          label="Template definition file"
          class="button form-start"
          onFile={(file) => void action.run(async () => change(await file.text()))}
        />
        <button type="button" class="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button"
          aria-disabled={action.busy}
          onClick={() => run(async (definition) => setMessage(props.valid(await props.check(definition))))}
        >
          <Icon name="check" />
          Check
        </button>
        <button type="submit" class="button button-primary" aria-disabled={action.busy}>
          {props.verb}
        </button>
      </div>
    </form>
  );
}

/** A definition that is being written, and what the platform says of it. */
function useDefinition(initial: string) {
  const action = useAction();
  const [text, setText] = useState(initial);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [message, setMessage] = useState('');
  const change = (next: string) => {
    setText(next);
    // They are those of the text that was sent.
    setFaults([]);
    setMessage('');
  };
  const run = (work: (definition: unknown) => Promise<void>) =>
    void action.run(async () => {
      setMessage('');
      setFaults(await faultsOf(text, work));
    });
  return { action, text, faults, message, setMessage, change, run };
}

/** Hands the document of a text to `work`; the faults of either, with their places. */
async function faultsOf(text: string, work: (definition: unknown) => Promise<void>): Promise<Fault[]> {
  const found = syntaxFault(text);
  if (found !== null) return [found];
  try {
    await work(JSON.parse(text));
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.issues.length === 0) throw error;
    return error.issues.map((issue) => ({ ...issue, place: placeOf(text, issue.path) }));
  }
}

/** What is no object is sent as it is, so that the platform says so. */
const asUpdate = (document: unknown) =>
  typeof document === 'object' && document !== null && !Array.isArray(document)
    ? { ...document, updateIfExists: true }
    : document;
