import { useState } from 'preact/hooks';
import { UserForm } from '../admin/user-form.tsx';
import type { User } from '../admin-api.ts';
import { deleteAccount, listAccounts } from '../admin-api.ts';
import { plural } from '../format.ts';
import { useAuth, useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { readPage } from '../sessions/address.ts';
import { AddButton, RowButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Paging, useLastPage } from '../ui/paging.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useSearchText } from '../ui/search-text.ts';
import { Table } from '../ui/table.tsx';

/** The accounts of people. */
export function UsersPage() {
  useTitle('Users');
  const { query } = useAddress();
  const wanted = query.get('search') ?? '';
  const number = readPage(query);
  const [search, setSearch] = useSearchText(wanted, (text) =>
    navigate(addressOf(text, 1), { replace: true }),
  );
  const list = useAccounts(wanted, number);
  const [edited, setEdited] = useState<User | 'new' | null>(null);
  const [deleted, setDeleted] = useState<User | null>(null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Users</h1>
        <div class="actions">
          <SearchField label="Search by name or email" value={search} onValue={setSearch} />
          <AddButton onClick={() => setEdited('new')}>New user</AddButton>
        </div>
      </div>
      <Loaded of={list} failure="The users could not be listed." rows={5} label="Loading users">
        {(page) =>
          page.users.length === 0 ? (
            <Empty title={`No user matches “${wanted}”`} />
          ) : (
            <>
              <UserTable users={page.users} busy={list.loading} onEdit={setEdited} onDelete={setDeleted} />
              <Paging
                page={page.page}
                totalPages={page.totalPages}
                summary={plural(page.totalCount, 'user', 'users')}
                onPage={(page) => navigate(addressOf(wanted, page))}
              />
            </>
          )
        }
      </Loaded>
      {edited !== null && (
        <UserForm
          user={edited === 'new' ? null : edited}
          saved={list.reload}
          onClose={() => setEdited(null)}
        />
      )}
      {deleted !== null && (
        <DeleteUser user={deleted} deleted={list.reload} onClose={() => setDeleted(null)} />
      )}
    </div>
  );
}

function useAccounts(search: string, page: number) {
  const read = (signal: AbortSignal) => listAccounts(search, page, signal);
  return useLastPage(useResource(`${page} ${search}`, read, { keepWhileLoading: true }));
}

function DeleteUser(props: { user: User; deleted: () => void; onClose: () => void }) {
  const { user } = props;
  return (
    <Confirm
      title={
        <>
          Delete <bdi>{user.username}</bdi>?
        </>
      }
      verb="Delete"
      act={async () => {
        await deleteAccount(user.userId);
        props.deleted();
      }}
      onClose={props.onClose}
    >
      All of their tokens end at once. Their sessions remain.
    </Confirm>
  );
}

function addressOf(search: string, page: number): string {
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('search', search);
  if (page !== 1) parameters.set('page', String(page));
  return parameters.size === 0 ? '/users' : `/users?${parameters}`;
}

function UserTable(props: {
  users: readonly User[];
  busy: boolean;
  onEdit: (user: User) => void;
  onDelete: (user: User) => void;
}) {
  const own = useAuth().signIn?.user.userId;
  return (
    <Table caption="Users" columns={['User', 'Role', 'Company']} actions busy={props.busy}>
      {props.users.map((user) => (
        <tr key={user.userId}>
          <td class="wrap-anywhere">
            <strong>{user.username}</strong>
            {!user.isActive && <span class="tag">not active</span>}
            {user.forceChangePasswordNextSignin && <span class="tag">must change the password</span>}
            <div class="faint">
              {[`${user.firstName} ${user.lastName}`.trim(), user.email].filter(Boolean).join(' · ')}
            </div>
          </td>
          <td data-label="Role">{user.role}</td>
          <td data-label="Company" class="wrap-anywhere">
            {user.company}
          </td>
          <td class="table-actions">
            <RowButton label={`Edit ${user.username}`} onClick={() => props.onEdit(user)}>
              Edit
            </RowButton>
            {user.userId !== own && (
              <RowButton label={`Delete ${user.username}`} onClick={() => props.onDelete(user)}>
                Delete
              </RowButton>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
