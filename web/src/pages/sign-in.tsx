import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { User } from '../api.ts';
import { setPassword } from '../api.ts';
import { endSignIn, signInWith, signOut } from '../auth.ts';
import { useTitle } from '../hooks.ts';
import { textOf } from '../http.ts';
import { Mark } from '../shell.tsx';
import { Notice } from '../ui/notice.tsx';

/** The sign-in form. It replaces the page, so after signing in the person sees the wanted page. */
export function SignInPage(props: { notice: string | null; username?: string }) {
  useTitle('Sign in');
  const { username: known = '' } = props;
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState('');
  const [rememberMe, setRememberMe] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { busy, submit } = useSubmit(async () => {
    const failure = await signInWith(username.trim(), password, rememberMe);
    setProblem(failure);
    if (failure !== null) setPassword('');
  });
  return (
    <EntryForm title="Sign in" lead="Simulation Data Platform" onSubmit={submit}>
      {problem !== null && <Notice tone="error">{problem}</Notice>}
      {problem === null && props.notice !== null && <Notice tone="info">{props.notice}</Notice>}
      <UsernameField isFirst={known === ''} value={username} onValue={setUsername} />
      <PasswordField
        isFirst={known !== ''}
        label="Password"
        name="password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
      />
      <label class="check">
        <input
          type="checkbox"
          name="rememberMe"
          checked={rememberMe}
          onChange={(event) => setRememberMe(event.currentTarget.checked)}
        />
        <span>Keep me signed in on this device</span>
      </label>
      <button type="submit" class="button button-primary button-wide" disabled={busy}>
        {busy ? 'Signing in …' : 'Sign in'}
      </button>
    </EntryForm>
  );
}

/** The form over a page that stays for the same person, with what they typed there. */
export function SignInAgain(props: { notice: string | null; username: string }) {
  const element = useRef<HTMLDialogElement>(null);
  const [title] = useState(document.title);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      document.title = title;
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="entry-over"
      aria-label="Sign in"
      onCancel={(event) => event.preventDefault()}
      // A browser closes it at a second Escape, even if the first was prevented.
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) currentTarget.showModal();
      }}
    >
      <SignInPage {...props} />
    </dialog>
  );
}

/** For people whose password was set by an administrator: nothing else works until they change it. */
export function PasswordPage(props: { user: User }) {
  useTitle('Choose a password');
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const { busy, submit } = useSubmit(async () => {
    try {
      await setPassword(props.user.userId, { currentPassword, newPassword });
      endSignIn('Your password is changed. Sign in with the new one.');
    } catch (error) {
      setProblem(textOf(error));
    }
  });
  return (
    <EntryForm
      title="Choose a new password"
      lead="Your password was set by an Administrator. Choose a new one to continue."
      onSubmit={submit}
    >
      {problem !== null && <Notice tone="error">{problem}</Notice>}
      <input type="hidden" name="username" autocomplete="username" value={props.user.username} />
      <PasswordField
        label="Current password"
        autocomplete="current-password"
        value={currentPassword}
        onValue={setCurrentPassword}
      />
      <PasswordField
        label="New password (at least 12 characters)"
        autocomplete="new-password"
        value={newPassword}
        onValue={setNewPassword}
      />
      <button type="submit" class="button button-primary button-wide" disabled={busy}>
        {busy ? 'Changing …' : 'Change password'}
      </button>
      <button type="button" class="button button-quiet button-wide" onClick={() => void signOut()}>
        Sign out
      </button>
    </EntryForm>
  );
}

/** Sends a form, one time after the other. */
function useSubmit(send: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    await send();
    setBusy(false);
  };
  return { busy, submit };
}

function EntryForm(props: {
  title: string;
  lead: string;
  onSubmit: (event: Event) => void;
  children: ComponentChildren;
}) {
  return (
    <main class="entry">
      <form class="entry-card" onSubmit={props.onSubmit}>
        <Mark />
        <h1>{props.title}</h1>
        <p class="entry-lead">{props.lead}</p>
        {props.children}
      </form>
    </main>
  );
}

/** The field in which the person begins to type has the focus: by the effect in a page, by the attribute in a dialog. */
function useFirst(isFirst: boolean) {
  const ref = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isFirst) ref.current?.focus();
  }, []);
  return { ref, autofocus: isFirst };
}

function UsernameField(props: { isFirst: boolean; value: string; onValue: (value: string) => void }) {
  const first = useFirst(props.isFirst);
  return (
    <label class="field">
      <span>Username</span>
      <input
        {...first}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    </label>
  );
}

function PasswordField(props: {
  isFirst?: boolean;
  label: string;
  name?: string;
  autocomplete: 'current-password' | 'new-password';
  value: string;
  onValue: (value: string) => void;
}) {
  const first = useFirst(props.isFirst ?? false);
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        {...first}
        name={props.name}
        type="password"
        autocomplete={props.autocomplete}
        required
        {...(props.autocomplete === 'new-password' ? { minLength: 12, maxLength: 256 } : {})}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    </label>
  );
}
