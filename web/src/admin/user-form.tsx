import { useState } from 'preact/hooks';
import type { User } from '../admin-api.ts';
import { changeAccount, createAccount, setPassword as sendPassword } from '../admin-api.ts';
import { useAction, useAuth } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../ui/form.tsx';

const roles = ['Administrator', 'Instructor', 'Trainee', 'Developer'] as const;

/** Makes or changes an account. The platform validates the fields. */
export function UserForm(props: { user: User | null; saved: () => void; onClose: () => void }) {
  const { user } = props;
  const action = useAction();
  const [fields, setFields] = useState({
    username: user?.username ?? '',
    email: user?.email ?? '',
    firstName: user?.firstName ?? '',
    lastName: user?.lastName ?? '',
    company: user?.company ?? '',
    role: user?.role ?? 'Trainee',
    isActive: user?.isActive ?? true,
    forceChangePasswordNextSignin: user?.forceChangePasswordNextSignin ?? true,
  });
  const [password, setPassword] = useState('');
  const set = (part: Partial<typeof fields>) => setFields((before) => ({ ...before, ...part }));
  const isOwn = useAuth().signIn?.user.userId === user?.userId;
  const save = async () => {
    if (user === null) await createAccount({ ...fields, password });
    else {
      if (password !== '') {
        const { forceChangePasswordNextSignin } = fields;
        await sendPassword(user.userId, { newPassword: password, forceChangePasswordNextSignin });
      }
      await changeAccount(user.userId, fields);
    }
    props.saved();
    props.onClose();
  };
  return (
    <Dialog title={user === null ? 'New user' : `Edit ${user.username}`} onClose={props.onClose}>
      <Form
        action={action}
        verb={user === null ? 'Create user' : 'Save'}
        onSubmit={() => void action.run(save)}
        onCancel={props.onClose}
      >
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
          <TextField
            label="First name"
            value={fields.firstName}
            onValue={(firstName) => set({ firstName })}
          />
          <TextField label="Last name" value={fields.lastName} onValue={(lastName) => set({ lastName })} />
          <TextField label="Email" value={fields.email} onValue={(email) => set({ email })} />
          <TextField
            label="Company"
            hint="Trainees see the people of their own company."
            value={fields.company}
            onValue={(company) => set({ company })}
          />
        </div>
        {!isOwn && (
          <TextField
            label={user === null ? 'Password' : 'New password'}
            hint={
              user === null
                ? 'At least 12 characters.'
                : 'At least 12 characters. Leave empty to keep the present one. A new password ends all of their sign-ins.'
            }
            type="password"
            autocomplete="new-password"
            required={user === null}
            value={password}
            onValue={setPassword}
          />
        )}
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
      </Form>
    </Dialog>
  );
}
