import { useEffect, useRef, useState } from 'preact/hooks';
import type { User } from '../api.ts';
import { setPassword } from '../api.ts';
import { endSignIn, signInWith, signOut } from '../auth.ts';
import { useTitle } from '../hooks.ts';
import { textOf } from '../http.ts';
import { Mark } from '../shell.tsx';
import { Notice } from '../ui/notice.tsx';

/** The sign-in form. It replaces the page, so after signing in the person sees the wanted page. */
export function SignInPage(props: { notice: string | null }) {
  useTitle('Sign in');
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [rememberMe, setRememberMe] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const nameField = useRef<HTMLInputElement>(null);
  useEffect(() => nameField.current?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const failure = await signInWith(username.trim(), password, rememberMe);
    setBusy(false);
    setProblem(failure);
    if (failure !== null) setPassword('');
  };

  return (
    <main class="entry">
      <form class="entry-card" onSubmit={submit}>
        <Mark />
        <h1>Sign in</h1>
        <p class="entry-lead">Simulation Data Platform</p>
        {problem !== null && <Notice tone="error">{problem}</Notice>}
        {problem === null && props.notice !== null && <Notice tone="info">{props.notice}</Notice>}
        <label class="field">
          <span>Username</span>
          <input
            ref={nameField}
            name="username"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            required
            value={username}
            onInput={(event) => setUsername(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Password</span>
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            required
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
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
      </form>
    </main>
  );
}

/** For people whose password was set by an administrator: nothing else works until they change it. */
export function PasswordPage(props: { user: User }) {
  useTitle('Choose a password');
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await setPassword(props.user.userId, { currentPassword, newPassword });
      endSignIn('Your password is changed. Sign in with the new one.');
    } catch (error) {
      setProblem(textOf(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main class="entry">
      <form class="entry-card" onSubmit={submit}>
        <Mark />
        <h1>Choose a new password</h1>
        <p class="entry-lead">Your password was set by an Administrator. Choose a new one to continue.</p>
        {problem !== null && <Notice tone="error">{problem}</Notice>}
        <input type="hidden" name="username" autocomplete="username" value={props.user.username} />
        <label class="field">
          <span>Current password</span>
          <input
            type="password"
            autocomplete="current-password"
            required
            value={currentPassword}
            onInput={(event) => setCurrentPassword(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>New password (at least 12 characters)</span>
          <input
            type="password"
            autocomplete="new-password"
            required
            minLength={12}
            maxLength={256}
            value={newPassword}
            onInput={(event) => setNewPassword(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-primary button-wide" disabled={busy}>
          {busy ? 'Changing …' : 'Change password'}
        </button>
        <button type="button" class="button button-quiet button-wide" onClick={() => void signOut()}>
          Sign out
        </button>
      </form>
    </main>
  );
}
