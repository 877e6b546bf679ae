import { useState } from 'preact/hooks';
import { MadeSecret } from '../admin/made-secret.tsx';
import type { OfflineToken, OfflineTokenMetadata } from '../admin-api.ts';
import { createOfflineToken, listOfflineTokens, revokeOfflineToken } from '../admin-api.ts';
import { formatAgo, formatDateTime } from '../format.ts';
import { useAction, useResource, useTitle } from '../hooks.ts';
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
  const [made, setMade] = useState<OfflineToken | null>(null);
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
        <MadeSecret title="The new offline token" value={made.token} onClose={() => setMade(null)}>
          It expires on {formatDateTime(made.expiresAt)}.
        </MadeSecret>
      )}
      {revoking !== null && (
        <Confirm
          title={`Revoke the token …${revoking.tokenHint}?`}
          verb="Revoke"
          act={async () => {
            await revokeOfflineToken(revoking.secretId);
            list.reload();
          }}
          onClose={() => setRevoking(null)}
        >
          The device that uses it can no longer upload. Other tokens of {revoking.username} stay.
        </Confirm>
      )}
    </div>
  );
}

function TokenTable(props: {
  tokens: readonly OfflineTokenMetadata[];
  onRevoke: (token: OfflineTokenMetadata) => void;
}) {
  const now = Date.now();
  const isGood = (token: OfflineTokenMetadata) => !token.revoked && Date.parse(token.expiresAt) > now;
  return (
    <Table caption="Offline tokens" columns={['Token', 'Created by', 'Last used', 'Expires']} actions>
      {props.tokens.map((token) => (
        <tr key={token.secretId}>
          <td class="mono">…{token.tokenHint}</td>
          <td data-label="Created by" class="wrap-anywhere">
            {token.username}
          </td>
          <td data-label="Last used" class="nowrap">
            {token.lastUsedAt === null ? 'never' : formatAgo(token.lastUsedAt, now)}
          </td>
          <td data-label="Expires" class="nowrap">
            {token.revoked ? 'revoked' : isGood(token) ? formatDateTime(token.expiresAt) : 'expired'}
          </td>
          <td class="table-actions">
            {isGood(token) && (
              <button
                type="button"
                class="button button-small"
                aria-label={`Revoke …${token.tokenHint}`}
                onClick={() => props.onRevoke(token)}
              >
                Revoke
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
