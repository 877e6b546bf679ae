import { useState } from 'preact/hooks';
import { createRunnerToken, listRunners, type RunnerInstance, sendManifest } from '../admin-api.ts';
import { useAction, useEvery, useResource } from '../hooks.ts';
import { runnerTitle } from '../names.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CopyText, Form, SelectField, TextField } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { commandsOf, type Language, manifestOf } from './runner-commands.ts';
import { usePublishedTypes } from './runner-tokens.tsx';

const tokenDays = 30;
const pollMs = 2000;

interface CreatedToken {
  readonly name: string;
  readonly language: Language;
  readonly token: string;
  /** The id of the token. */
  readonly tokenId: string;
}

/** From a name to a runner that was seen: publishes a manifest, makes a token, shows what to type, and waits. */
export function ConnectRunner(props: { onClose: () => void; changed: () => void }) {
  const [made, setMade] = useState<CreatedToken | null>(null);
  return (
    // Another window for the second step: it begins at the token.
    <Dialog key={made?.tokenId} title="Connect a runner" wide stays={made !== null} onClose={props.onClose}>
      {made === null ? (
        <Choose
          onClose={props.onClose}
          onMade={(next) => {
            setMade(next);
            props.changed();
          }}
        />
      ) : (
        <Start made={made} onClose={props.onClose} />
      )}
    </Dialog>
  );
}

function Choose(props: { onClose: () => void; onMade: (made: CreatedToken) => void }) {
  const published = usePublishedTypes();
  const [type, setType] = useState('');
  const [typed, setTyped] = useState('my-runner');
  const [language, setLanguage] = useState<Language>('typescript');
  const action = useAction();
  const isNew = type === '' && !published.includes(typed);
  const name = type === '' ? typed : type;
  const make = async () => {
    const { token, id } = await makeToken(name, isNew);
    props.onMade({ name, language, token, tokenId: id });
  };
  return (
    <Form action={action} verb="Next" onSubmit={() => void action.run(make)} onCancel={props.onClose}>
      {published.length > 0 && (
        <SelectField
          label="Runner type"
          value={type}
          options={[
            { value: '', label: 'A new one' },
            ...published.map((one) => ({ value: one, label: one })),
          ]}
          onValue={setType}
        />
      )}
      {type === '' && (
        <TextField
          label="Name"
          hint="Lowercase letters, digits and hyphens: top-speed. Its node template is called the same."
          required
          value={typed}
          onValue={setTyped}
        />
      )}
      <LanguageField value={language} onValue={setLanguage} />
      <p class="faint">
        {isNew ? 'Next publishes a manifest for it, and makes' : 'Next makes'} a token for {tokenDays} days.
      </p>
    </Form>
  );
}

/** A token for a runner type, which is published before when it is new. */
async function makeToken(name: string, isNew: boolean) {
  if (isNew) {
    const { errors } = await sendManifest(manifestOf(name), true);
    const [fault] = errors;
    if (fault !== undefined) throw new Error(`${fault.path}: ${fault.message}`);
  }
  return createRunnerToken({
    runnerTypes: [name],
    scopes: ['tasks'],
    ttlHours: tokenDays * 24,
    label: name,
  });
}

function LanguageField(props: { value: Language; onValue: (language: Language) => void }) {
  return (
    <SelectField
      label="Language"
      value={props.value}
      options={[
        { value: 'typescript', label: 'TypeScript' },
        { value: 'python', label: 'Python' },
      ]}
      onValue={props.onValue}
    />
  );
}

function Start({ made, onClose }: { made: CreatedToken; onClose: () => void }) {
  const seen = useSeen(made.tokenId);
  const [language, setLanguage] = useState(made.language);
  return (
    <div class="form">
      <Notice tone="info">Copy the token now. It is shown only once, here and in the commands.</Notice>
      <CopyText label="Token" text={made.token} />
      <LanguageField value={language} onValue={setLanguage} />
      <CopyText label="Commands" text={commandsOf(made.name, language, window.location.origin, made.token)} />
      <details>
        <summary>Manifest</summary>
        <CopyText label="Manifest" text={JSON.stringify(manifestOf(made.name), null, 2)} />
      </details>
      {seen === null ? (
        <p class="connect-wait" role="status">
          <Icon name="spinner" /> Waiting for the runner …
        </p>
      ) : (
        <Notice tone="done">
          {runnerTitle(seen.instanceId, seen.tokenLabel)} is connected
          {seen.version !== null && ` (${seen.version})`}.
        </Notice>
      )}
      <div class="form-end">
        <button type="button" class="button button-primary" onClick={onClose}>
          {seen === null ? 'I have copied the token' : 'Done'}
        </button>
      </div>
    </div>
  );
}

/** The first runner that was seen with the token; the newest runners are on the first page. */
function useSeen(tokenId: string): RunnerInstance | null {
  const list = useResource(`seen ${tokenId}`, (signal) => listRunners(1, signal));
  const seen = list.data?.runners.find((runner) => runner.tokenId === tokenId) ?? null;
  useEvery(pollMs, seen === null, list.reload);
  return seen;
}
