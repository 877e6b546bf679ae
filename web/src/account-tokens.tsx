import { useState } from 'preact/hooks';
import { listOfflineTokens, listRunnerTokens, revokeOfflineToken, revokeRunnerToken } from './admin-api.ts';
import type { User } from './api.ts';
import { formatAgo, formatDateTime } from './format.ts';
import { useAction, useResource } from './hooks.ts';
import { useAbilities } from './role.ts';
import { Failure, Notice, Placeholder } from './ui/notice.tsx';
import './styles/account.css';

interface OwnToken {
  readonly id: string;
  readonly name: string;
  readonly kind: 'Runner token' | 'Offline token';
  /** Null: the platform does not say. */
  readonly createdAt: string | null;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string;
  readonly revoke: () => Promise<void>;
}

type Signal = AbortSignal | undefined;

/** The valid tokens that a person made, the newest first; never their values. */
async function ownTokens(user: User, mayMakeOffline: boolean, signal: Signal): Promise<OwnToken[]> {
  const [runner, offline] = await Promise.all([
    listRunnerTokens(signal),
    mayMakeOffline ? listOfflineTokens(signal) : [],
  ]);
  const isGood = (token: { revoked: boolean; expiresAt: string }) =>
    !token.revoked && Date.parse(token.expiresAt) > Date.now();
  return [
    ...runner
      .filter((token) => token.createdBy === user.userId && isGood(token))
      .map((token): OwnToken => {
        const { id, createdAt, lastUsedAt, expiresAt } = token;
        const name = `${token.label === '' ? token.runnerTypes.join(', ') : token.label} …${token.tokenHint}`;
        const revoke = () => revokeRunnerToken(id);
        return { id, name, kind: 'Runner token', createdAt, lastUsedAt, expiresAt, revoke };
      })
      .reverse(),
    ...offline
      .filter((token) => token.userId === user.userId && isGood(token))
      .map(({ secretId, tokenHint, lastUsedAt, expiresAt }): OwnToken => {
        const revoke = () => revokeOfflineToken(secretId);
        const name = `…${tokenHint}`;
        return { id: secretId, name, kind: 'Offline token', createdAt: null, lastUsedAt, expiresAt, revoke };
      }),
  ];
}

/** Shown to people whose role makes tokens. */
export function AccountTokens({ user }: { user: User }) {
  const { administrate } = useAbilities();
  const list = useResource(`own-tokens ${user.userId}`, (signal) => ownTokens(user, administrate, signal), {
    keepWhileLoading: true,
  });
  const action = useAction();
  const [asked, setAsked] = useState<string | null>(null);
  const now = Date.now();
  const revoke = (token: OwnToken) =>
    void action.run(async () => {
      await token.revoke();
      setAsked(null);
      list.reload();
    });
  return (
    <section aria-label="Your tokens">
      <h3>Your tokens</h3>
      {list.error !== null && (
        <Failure what="Your tokens could not be listed." error={list.error} retry={list.reload} />
      )}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {list.data === null && list.error === null && <Placeholder rows={2} label="Loading your tokens" />}
      {list.data?.length === 0 && <p class="faint">You have no valid tokens.</p>}
      <ul class="own-tokens">
        {list.data?.map((token) => (
          <li key={token.id} class="card-head">
            <div>
              <strong class="wrap-anywhere">{token.name}</strong>
              <p class="faint">
                {token.kind}
                {token.createdAt !== null && ` · created ${formatAgo(token.createdAt, now)}`} ·{' '}
                {token.lastUsedAt === null ? 'never used' : `last used ${formatAgo(token.lastUsedAt, now)}`} ·
                expires {formatDateTime(token.expiresAt)}
              </p>
            </div>
            <div class="actions">
              {asked === token.id ? (
                <>
                  <button
                    type="button"
                    class="button button-small button-danger"
                    aria-disabled={action.busy}
                    onClick={() => revoke(token)}
                  >
                    Revoke for good
                  </button>
                  <button type="button" class="button button-small" onClick={() => setAsked(null)}>
                    Cancel
                  </button>
                </>
              ) : (
                <button
                  type="button"
                  class="button button-small"
                  aria-label={`Revoke ${token.name}`}
                  onClick={() => setAsked(token.id)}
                >
                  Revoke
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
