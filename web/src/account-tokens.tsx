import { useState } from 'preact/hooks';
import { listOfflineTokens, listRunnerTokens, revokeOfflineToken, revokeRunnerToken } from './admin-api.ts';
import type { User } from './api.ts';
import { formatDateTime } from './format.ts';
import { useAction, useResource } from './hooks.ts';
import { useAbilities } from './role.ts';
import { Ago } from './ui/ago.tsx';
import { Loaded } from './ui/loaded.tsx';
import { Notice } from './ui/notice.tsx';
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

/** The valid tokens that a person made, the newest first; never their values. */
async function ownTokens(user: User, mayMakeOffline: boolean, signal: AbortSignal): Promise<OwnToken[]> {
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
  const revoke = (token: OwnToken) =>
    void action.run(async () => {
      await token.revoke();
      setAsked(null);
      list.reload();
    });
  return (
    <section aria-label="Your tokens">
      <h3>Your tokens</h3>
      <Loaded of={list} failure="Your tokens could not be listed." rows={2} label="Loading your tokens">
        {(tokens) => (
          <>
            {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
            {tokens.length === 0 && <p class="faint">You have no valid tokens.</p>}
            <ul class="own-tokens">
              {tokens.map((token) => (
                <TokenItem
                  key={token.id}
                  token={token}
                  isAsked={asked === token.id}
                  busy={action.busy}
                  ask={(isAsked) => setAsked(isAsked ? token.id : null)}
                  revoke={() => revoke(token)}
                />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** A token, with a button that asks before it revokes. */
function TokenItem(props: {
  token: OwnToken;
  isAsked: boolean;
  busy: boolean;
  ask: (isAsked: boolean) => void;
  revoke: () => void;
}) {
  const { token, ask } = props;
  return (
    <li class="card-head">
      <div>
        <strong class="wrap-anywhere">{token.name}</strong>
        <p class="faint">
          {token.kind}
          <TokenTimes token={token} />
        </p>
      </div>
      <div class="actions">
        {props.isAsked ? (
          <>
            <button
              type="button"
              class="button button-small button-danger"
              aria-disabled={props.busy}
              onClick={props.revoke}
            >
              Revoke for good
            </button>
            <button type="button" class="button button-small" onClick={() => ask(false)}>
              Cancel
            </button>
          </>
        ) : (
          <button
            type="button"
            class="button button-small"
            aria-label={`Revoke ${token.name}`}
            onClick={() => ask(true)}
          >
            Revoke
          </button>
        )}
      </div>
    </li>
  );
}

/** ` · created 3 min ago · never used · expires 14 Mar 2026, 09:30`. */
function TokenTimes({ token }: { token: OwnToken }) {
  return (
    <>
      {token.createdAt !== null && (
        <>
          {' · created '}
          <Ago at={token.createdAt} />
        </>
      )}
      {' · '}
      {token.lastUsedAt === null ? (
        'never used'
      ) : (
        <>
          last used <Ago at={token.lastUsedAt} />
        </>
      )}
      {' · expires '}
      {formatDateTime(token.expiresAt)}
    </>
  );
}
