import { useState } from 'preact/hooks';
import { roles } from '../../../client/roles.ts';
import type { User } from '../admin-api.ts';
import { changeAccount, createAccount, setPassword as sendPassword } from '../admin-api.ts';
import { useAuth } from '../hooks.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { CheckField, FormDialog, SelectField, TextField } from '../ui/form.tsx';

function fieldsOf(user: User | null) {
  return {
    username: user?.username ?? '',
    email: user?.email ?? '',
    firstName: user?.firstName ?? '',
    lastName: user?.lastName ?? '',
    company: user?.company ?? '',
    role: user?.role ?? 'Trainee',
    isActive: user?.isActive ?? true,
    forceChangePasswordNextSignin: user?.forceChangePasswordNextSignin ?? true,
  };
}

type Fields = ReturnType<typeof fieldsOf>;

/** Makes or changes an account. The platform validates the fields. */
export function UserForm(props: { user: User | null; saved: () => void; onClose: () => void }) {
  const { user } = props;
  const [fields, setFields] = useState(() => fieldsOf(user));
  const [password, setPassword] = useState('');
  const set = (part: Partial<Fields>) => setFields((before) => ({ ...before, ...part }));
  const isOwn = useAuth().signIn?.user.userId === user?.userId;
  const save = async () => {
    if (user === null) await createAccount({ ...fields, password });
    else {
      if (password !== '') {
        const { forceChangePasswordNextSignin } = fields;
        await sendPassword(user.userId, { newPassword: password, forceChangePasswordNextSignin });
      }
      await changeAccount(user.userId, changedFields(fieldsOf(user), fields));
    }
    props.saved();
    props.onClose();
  };
  return (
    <FormDialog
      title={user === null ? 'New user' : `Edit ${user.username}`}
      verb={user === null ? 'Create user' : 'Save'}
      save={save}
      onClose={props.onClose}
    >
      <PersonFields fields={fields} set={set} />
      {!isOwn && <PasswordField isNew={user === null} value={password} onValue={setPassword} />}
      <CheckField
        label="Must change the password at the next sign-in"
        checked={fields.forceChangePasswordNextSignin}
        onChecked={(forceChangePasswordNextSignin) => set({ forceChangePasswordNextSignin })}
      />
      <CheckField
        label="Active: may sign in"
        checked={fields.isActive}
        onChecked={(isActive) => set({ isActive })}
      />
    </FormDialog>
  );
}

function PersonFields({ fields, set }: { fields: Fields; set: (part: Partial<Fields>) => void }) {
  return (
    <div class="fields">
      <TextField
        label="Username"
        required
        value={fields.username}
        onValue={(username) => set({ username })}
      />
      <SelectField
        label="Role"
        value={fields.role}
        options={roles.map((role) => ({ value: role, label: role }))}
        onValue={(role) => set({ role })}
      />
      <TextField label="First name" value={fields.firstName} onValue={(firstName) => set({ firstName })} />
      <TextField label="Last name" value={fields.lastName} onValue={(lastName) => set({ lastName })} />
      <TextField label="Email" value={fields.email} onValue={(email) => set({ email })} />
      <TextField
        label="Company"
        hint="Trainees see the people of their own company."
        value={fields.company}
        onValue={(company) => set({ company })}
      />
    </div>
  );
}

function PasswordField(props: { isNew: boolean; value: string; onValue: (value: string) => void }) {
  return (
    <TextField
      label={props.isNew ? 'Password' : 'New password'}
      hint={
        props.isNew
          ? 'At least 12 characters.'
          : 'At least 12 characters. Leave empty to keep the present one. A new password ends all of their sign-ins.'
      }
      type="password"
      autocomplete="new-password"
      required={props.isNew}
      value={props.value}
      onValue={props.onValue}
    />
  );
}
