import { useEffect, useState } from 'preact/hooks';
import type { DocumentIssue, RunnerManifestReply } from '../admin-api.ts';
import { readManifest, sendManifest } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useAction, useResource } from '../hooks.ts';
import { JsonFileButton } from '../templates/json-file-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Notice } from '../ui/notice.tsx';

const blank = `{
  "manifestVersion": 1,
  "feature": { "name": "", "version": "1.0.0", "ownershipType": "ThirdParty" },
  "runnerTypes": [{ "name": "", "runtime": "external" }],
  "nodeTemplates": [
    {
      "name": "",
      "runnerType": "",
      "type": "Transform",
      "configurationSchema": { "type": "object", "properties": {} }
    }
  ]
}
`;

/** A manifest as text: checked, and published, with every fault and warning at its JSON path. */
export function ManifestEditor(props: {
  feature: string | null;
  published: () => void;
  onClose: () => void;
}) {
  const { feature } = props;
  const stored = useResource(feature ?? '', (signal) =>
    feature === null ? Promise.resolve(null) : readManifest(feature, signal),
  );
  const storedText = stored.data === null ? null : `${JSON.stringify(stored.data, null, 2)}\n`;
  return (
    <Dialog
      title={feature === null ? 'Publish a manifest' : `Manifest of ${feature}`}
      wide
      onClose={props.onClose}
    >
      <Loaded
        of={{ ...stored, data: feature === null ? blank : storedText }}
        failure="The manifest could not be read."
        rows={4}
        label="Loading the manifest"
      >
        {(text) => <Editor text={text} published={props.published} onClose={props.onClose} />}
      </Loaded>
    </Dialog>
  );
}

function Editor(props: { text: string; published: () => void; onClose: () => void }) {
  const action = useAction();
  const [text, setText] = useState(props.text);
  const [reply, setReply] = useState<RunnerManifestReply | null>(null);
  // A reply is only valid for the text that it checked.
  useEffect(() => setReply(null), [text]);
  const submit = (publish: boolean) =>
    void action.run(async () => {
      setReply(null);
      const answer = await sendManifest(parsed(text), publish);
      setReply(answer);
      if (answer.published) props.published();
    });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        submit(true);
      }}
    >
      <ManifestField text={text} onText={setText} />
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {reply !== null && <Verdict reply={reply} />}
      <div class="form-end">
        <JsonFileButton
          title="Choose a file"
          label="Manifest file"
          class="button form-start"
          onFile={(file) => void action.run(async () => setText(await file.text()))}
        />
        <button type="button" class="button" onClick={props.onClose}>
          {reply?.published ? 'Close' : 'Cancel'}
        </button>
        <button type="button" class="button" aria-disabled={action.busy} onClick={() => submit(false)}>
          <Icon name="check" />
          Check
        </button>
        <button type="submit" class="button button-primary" aria-disabled={action.busy}>
          Publish
        </button>
      </div>
    </form>
  );
}

function ManifestField({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <label class="field">
      <span>Manifest</span>
      <textarea
        rows={18}
        class="code code-long"
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <span class="field-hint">
        The same or a higher version updates the feature. Names that it no longer lists are retired.
      </span>
    </label>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The text is not JSON. ${error instanceof Error ? error.message : ''}`);
  }
}

function Verdict({ reply }: { reply: RunnerManifestReply }) {
  const { errors, warnings } = reply;
  return (
    <div class="verdict" role={errors.length > 0 ? 'alert' : 'status'}>
      {reply.published && <Notice tone="done">Published.</Notice>}
      {!reply.published && errors.length === 0 && (
        <Notice tone="done">The manifest is valid. It is not published yet.</Notice>
      )}
      {errors.length > 0 && (
        <Issues
          title={`${plural(errors.length, 'fault', 'faults')}: nothing was published`}
          tone="failed"
          issues={errors}
        />
      )}
      {warnings.length > 0 && (
        <Issues title={plural(warnings.length, 'warning', 'warnings')} tone="waiting" issues={warnings} />
      )}
    </div>
  );
}

function Issues(props: { title: string; tone: 'failed' | 'waiting'; issues: readonly DocumentIssue[] }) {
  return (
    <section class={`issues state-${props.tone}`}>
      <h3>{props.title}</h3>
      <ul>
        {props.issues.map(({ path, message }) => (
          <li key={path + message}>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
