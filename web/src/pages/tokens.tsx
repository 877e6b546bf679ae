import { useState } from 'preact/hooks';
import { NewSecret } from '../admin/new-secret.tsx';
import { endOf, isGood } from '../admin/runner-tokens.tsx';
import type { OfflineTokenCreated, OfflineTokenMetadata } from '../admin-api.ts';
import { createOfflineToken, listOfflineTokens, revokeOfflineToken } from '../admin-api.ts';
import { formatDateTime } from '../format.ts';
import { useAction, useResource, useTitle } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { RowButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { Table } from '../ui/table.tsx';

/** Offline tokens: the credentials of capture devices, valid for twelve months. */
export function TokensPage() {
  useTitle('Tokens');
  const list = useResource('offline-tokens', listOfflineTokens);
  const action = useAction();
  const [made, setMade] = useState<OfflineTokenCreated | null>(null);
  const [revoking, setRevoking] = useState<OfflineTokenMetadata | null>(null);
  const create = async () => {
    setMade(await createOfflineToken());
    list.reload();
  };
  return (
    <div class="page">
      <div class="page-head">
        <h1>Offline tokens</h1>
        <button
          type="button"
          class="button button-primary"
          aria-disabled={action.busy}
          onClick={() => void action.run(create)}
        >
          <Icon name="plus" />
          New offline token
        </button>
      </div>
      <p class="faint">
        For capture devices, which upload recordings on behalf of the Administrator who created the token.
      </p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <Loaded of={list} failure="The tokens could not be listed." rows={3} label="Loading tokens">
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title="No offline tokens yet" />
          ) : (
            <TokenTable tokens={tokens} onRevoke={setRevoking} />
          )
        }
      </Loaded>
      {made !== null && (
        <NewSecret title="The new offline token" value={made.token} onClose={() => setMade(null)}>
          It expires on {formatDateTime(made.expiresAt)}. Note which device gets it: tokens are listed by
          their last letters only, here <span class="mono">…{made.token.slice(-4)}</span>.
        </NewSecret>
      )}
      {revoking !== null && (
        <RevokeToken token={revoking} revoked={list.reload} onClose={() => setRevoking(null)} />
      )}
    </div>
  );
}

function RevokeToken(props: { token: OfflineTokenMetadata; revoked: () => void; onClose: () => void }) {
  const { token } = props;
  return (
    <Confirm
      title={`Revoke the token …${token.tokenHint}?`}
      verb="Revoke"
      act={async () => {
        await revokeOfflineToken(token.secretId);
        props.revoked();
      }}
      onClose={props.onClose}
    >
      The device that uses it can no longer upload. Other tokens of <bdi>{token.username}</bdi> stay.
    </Confirm>
  );
}

function TokenTable(props: {
  tokens: readonly OfflineTokenMetadata[];
  onRevoke: (token: OfflineTokenMetadata) => void;
}) {
  const now = Date.now();
  return (
    <Table caption="Offline tokens" columns={['Token', 'Created by', 'Last used', 'Expires']} actions>
      {props.tokens.map((token) => (
        <tr key={token.secretId}>
          <td class="mono">…{token.tokenHint}</td>
          <td data-label="Created by" class="wrap-anywhere">
            {token.username}
          </td>
          <td data-label="Last used" class="nowrap">
            {token.lastUsedAt === null ? 'never' : <Ago at={token.lastUsedAt} />}
          </td>
          <td data-label="Expires" class="nowrap">
            {endOf(token, now)}
          </td>
          <td class="table-actions">
            {isGood(token, now) && (
              <RowButton label={`Revoke …${token.tokenHint}`} onClick={() => props.onRevoke(token)}>
                Revoke
              </RowButton>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
