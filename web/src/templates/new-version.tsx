import { useState } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { JsonFileButton } from '../ui/json-file-button.tsx';
import { Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { importTemplate, readTemplateVersion, type SessionTemplateImported } from './api.ts';
import { JsonEditor } from './json-editor.tsx';
import { type Fault, placeOf, syntaxFault } from './json-places.ts';

/** The newest version as a definition file, to be changed: the platform checks it and makes the next version of it. */
export function NewVersion(props: {
  templateId: number;
  version: number;
  made: (imported: SessionTemplateImported) => void;
  onClose: () => void;
}) {
  const { templateId, version } = props;
  const stored = useResource(`${templateId} ${version}`, (signal) =>
    readTemplateVersion(templateId, version, signal),
  );
  return (
    <Dialog title="New version" wide onClose={props.onClose}>
      {stored.error !== null && (
        <Failure what="The definition could not be read." error={stored.error} retry={stored.reload} />
      )}
      {stored.data === null && stored.error === null && (
        <Placeholder rows={6} label="Loading the definition" />
      )}
      {stored.data !== null && (
        <Editor
          text={`${JSON.stringify(stored.data.definition, null, 2)}\n`}
          made={props.made}
          onClose={props.onClose}
        />
      )}
    </Dialog>
  );
}

function Editor(props: {
  text: string;
  made: (imported: SessionTemplateImported) => void;
  onClose: () => void;
}) {
  const action = useAction();
  const [text, setText] = useState(props.text);
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const change = (next: string) => {
    setText(next);
    // They are those of the text that was sent.
    if (faults.length > 0) setFaults([]);
  };
  const send = async () => {
    setFaults([]);
    const found = syntaxFault(text);
    if (found !== null) {
      setFaults([found]);
      return;
    }
    try {
      props.made(await importTemplate(asUpdate(JSON.parse(text))));
    } catch (error) {
      if (!(error instanceof ApiError) || error.issues.length === 0) throw error;
      setFaults(error.issues.map((issue) => ({ ...issue, place: placeOf(text, issue.path) })));
    }
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(send);
      }}
    >
      <JsonEditor
        label="Definition"
        value={text}
        faults={faults}
        faultsTitle={`${plural(faults.length, 'fault', 'faults')}: no version was made`}
        onValue={change}
      />
      <p class="faint">
        Configurations and the description may change: later sessions get them. Other nodes or parents need
        another Name, which makes a new template.
      </p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
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
        <button type="submit" class="button button-primary" aria-disabled={action.busy}>
          Make the version
        </button>
      </div>
    </form>
  );
}

/** What is no object is sent as it is, so that the platform says so. */
const asUpdate = (document: unknown) =>
  typeof document === 'object' && document !== null && !Array.isArray(document)
    ? { ...document, updateIfExists: true }
    : document;
