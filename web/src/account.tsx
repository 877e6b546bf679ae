import { useState } from 'preact/hooks';
import type { User } from './api.ts';
import { setPassword } from './api.ts';
import { useAction } from './hooks.ts';
import { personTitle } from './names.ts';
import { setPreferences, type Theme, usePreferences, type Zone } from './preferences.ts';
import { useAbilities } from './role.ts';
import { Dialog } from './ui/dialog.tsx';
import { Form, SelectField, TextField } from './ui/form.tsx';
import { Icon } from './ui/icon.tsx';
import { lazy } from './ui/lazy.tsx';
import { Notice } from './ui/notice.tsx';

const TokensLoader = lazy(() => import('./account-tokens.tsx').then((module) => module.AccountTokens), {
  rows: 2,
  label: 'Loading your tokens',
});

/** The signed-in user; opens the account. */
export function AccountButton({ user }: { user: User }) {
  const [open, setOpen] = useState(false);
  const name = personTitle(user);
  return (
    <>
      <button
        type="button"
        class="user"
        aria-haspopup="dialog"
        title="Your account"
        onClick={() => setOpen(true)}
      >
        <Icon name="users" class="user-sign" />
        <span class="visually-hidden">Account: </span>
        <span class="user-name">{name}</span>
        <span class="user-role">{user.role}</span>
      </button>
      {open && <Account user={user} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The user's own account: its details, and a new password. */
function Account(props: { user: User; onClose: () => void }) {
  const { user } = props;
  const { operate } = useAbilities();
  return (
    <Dialog title={personTitle(user)} onClose={props.onClose}>
      <div class="form">
        <dl class="facts">
          <dt>Username</dt>
          <dd>{user.username}</dd>
          <dt>Role</dt>
          <dd>{user.role}</dd>
          {user.email !== '' && (
            <>
              <dt>Email</dt>
              <dd>{user.email}</dd>
            </>
          )}
        </dl>
        <PreferenceFields />
        {operate && <TokensLoader user={user} />}
        <PasswordForm userId={user.userId} onClose={props.onClose} />
      </div>
    </Dialog>
  );
}

function PasswordForm(props: { userId: string; onClose: () => void }) {
  const action = useAction();
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [isChanged, setChanged] = useState(false);
  const change = async () => {
    setChanged(false);
    await setPassword(props.userId, { currentPassword, newPassword });
    setCurrentPassword('');
    setNewPassword('');
    setChanged(true);
  };
  return (
    <>
      {isChanged && <Notice tone="done">Your password is changed. Your other sign-ins have ended.</Notice>}
      <Form
        action={action}
        verb="Change password"
        onSubmit={() => void action.run(change)}
        onCancel={props.onClose}
      >
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          value={currentPassword}
          onValue={setCurrentPassword}
        />
        <TextField
          label="New password"
          hint="At least 12 characters."
          type="password"
          autocomplete="new-password"
          required
          value={newPassword}
          onValue={setNewPassword}
        />
      </Form>
    </>
  );
}

const zoneOfMachine = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Kept in this browser; each choice holds at once. */
function PreferenceFields() {
  const { theme, zone } = usePreferences();
  return (
    <div class="fields">
      <SelectField<Theme>
        label="Colours"
        value={theme}
        options={[
          { value: 'system', label: 'Like the system' },
          { value: 'light', label: 'Light' },
          { value: 'dark', label: 'Dark' },
        ]}
        onValue={(value) => setPreferences({ theme: value })}
      />
      <SelectField<Zone>
        label="Time zone"
        value={zone}
        options={[
          { value: 'machine', label: `This machine: ${zoneOfMachine()}` },
          { value: 'utc', label: 'UTC' },
        ]}
        onValue={(value) => setPreferences({ zone: value })}
      />
    </div>
  );
}
