import { useState } from 'preact/hooks';
import type { OfflineTokenCreated, RunnerTokenMetadata, RunnerTokenRequest } from '../admin-api.ts';
import { createRunnerToken, listFeatures, listRunnerTokens, revokeRunnerToken } from '../admin-api.ts';
import { formatDateTime } from '../format.ts';
import { useResource } from '../hooks.ts';
import { useAbilities } from '../role.ts';
import { Ago } from '../ui/ago.tsx';
import { RowButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { CheckField, FormDialog, TextField } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Table } from '../ui/table.tsx';
import { NewSecret } from './new-secret.tsx';

/** The tokens of runners: the person's own, or all for Administrators. */
export function RunnerTokens() {
  const { administrate } = useAbilities();
  const title = administrate ? 'Runner tokens' : 'Your runner tokens';
  const list = useResource('runner-tokens', listRunnerTokens);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<RunnerTokenMetadata | null>(null);
  return (
    <section class="page" aria-label={title}>
      <div class="part-head">
        <h2>{title}</h2>
        <button type="button" class="button button-small" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          New runner token
        </button>
      </div>
      <Loaded of={list} failure="The tokens could not be listed." rows={2} label="Loading tokens">
        {(tokens) =>
          tokens.length === 0 ? (
            <p class="faint">None yet.</p>
          ) : (
            <TokenTable tokens={[...tokens].reverse()} onRevoke={setRevoking} />
          )
        }
      </Loaded>
      {making && <NewToken onClose={() => setMaking(false)} made={list.reload} />}
      {revoking !== null && (
        <Confirm
          title={
            <>
              Revoke the token <bdi>{nameOf(revoking)}</bdi>?
            </>
          }
          verb="Revoke"
          act={async () => {
            await revokeRunnerToken(revoking.id);
            list.reload();
          }}
          onClose={() => setRevoking(null)}
        >
          It is refused from now on. The tasks of its runners are released, which does not count as an
          attempt.
        </Confirm>
      )}
    </section>
  );
}

function TokenTable(props: {
  tokens: readonly RunnerTokenMetadata[];
  onRevoke: (token: RunnerTokenMetadata) => void;
}) {
  const now = Date.now();
  return (
    <Table caption="Runner tokens" columns={['Token', 'Runner types', 'Last used', 'Expires']} actions>
      {props.tokens.map((token) => (
        <tr key={token.id}>
          <td class="wrap-anywhere">
            <strong>{token.label === '' ? 'without a label' : token.label}</strong>
            <div class="faint">
              …{token.tokenHint} · {token.scopes.join(', ')}
            </div>
          </td>
          <td data-label="Runner types" class="wrap-anywhere">
            {token.runnerTypes.join(', ')}
          </td>
          <td data-label="Last used" class="nowrap">
            {token.lastUsedAt === null ? 'never' : <Ago at={token.lastUsedAt} />}
          </td>
          <td data-label="Expires" class="nowrap">
            {endOf(token, now)}
          </td>
          <td class="table-actions">
            {isGood(token, now) && (
              <RowButton label={`Revoke ${nameOf(token)}`} onClick={() => props.onRevoke(token)}>
                Revoke
              </RowButton>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

const nameOf = (token: RunnerTokenMetadata) => (token.label === '' ? `…${token.tokenHint}` : token.label);
type Validity = Pick<RunnerTokenMetadata, 'revoked' | 'expiresAt'>;

/** True while a token is accepted. */
export const isGood = (token: Validity, nowMs: number) =>
  !token.revoked && Date.parse(token.expiresAt) > nowMs;

/** When a token ends, or how it has ended. */
export function endOf(token: Validity, nowMs: number): string {
  if (token.revoked) return 'revoked';
  if (Date.parse(token.expiresAt) <= nowMs) return 'expired';
  return formatDateTime(token.expiresAt);
}

const typesIn = (text: string) => text.split(/[\s,]+/).filter((type) => type !== '');

/** The runner types that manifests have published. */
export function usePublishedTypes(): string[] {
  const features = useResource('features', listFeatures);
  return (features.data ?? []).flatMap(({ runnerTypes }) =>
    runnerTypes.filter(({ retired }) => !retired).map(({ name }) => name),
  );
}

function PublishedTypes(props: { chosen: string[]; onChosen: (types: string[]) => void }) {
  const { chosen } = props;
  const types = usePublishedTypes();
  if (types.length === 0) return null;
  return (
    <fieldset class="actions">
      <legend>Published runner types</legend>
      {types.map((name) => {
        const isChosen = chosen.includes(name);
        return (
          <button
            key={name}
            type="button"
            class="button button-small"
            aria-pressed={isChosen}
            onClick={() =>
              props.onChosen(isChosen ? chosen.filter((type) => type !== name) : [...chosen, name])
            }
          >
            <Icon name={isChosen ? 'check' : 'plus'} />
            {name}
          </button>
        );
      })}
    </fieldset>
  );
}

function NewToken(props: { onClose: () => void; made: () => void }) {
  const [made, setMade] = useState<OfflineTokenCreated | null>(null);
  if (made === null)
    return (
      <TokenForm
        onClose={props.onClose}
        onMade={(token) => {
          setMade(token);
          props.made();
        }}
      />
    );
  return (
    <NewSecret title="The new runner token" value={made.token} onClose={props.onClose}>
      It expires on {formatDateTime(made.expiresAt)}. A runner reads it from <code>SDP_RUNNER_TOKEN</code>.
    </NewSecret>
  );
}

function TokenForm(props: { onClose: () => void; onMade: (token: OfflineTokenCreated) => void }) {
  const { administrate } = useAbilities();
  const maxDays = administrate ? 365 : 30;
  const [label, setLabel] = useState('');
  const [types, setTypes] = useState('');
  const [days, setDays] = useState('30');
  const [debug, setDebug] = useState(false);
  const create = async () => {
    const body: RunnerTokenRequest = {
      runnerTypes: typesIn(types),
      scopes: debug ? ['tasks', 'debug:read'] : ['tasks'],
      ttlHours: Number(days) * 24,
      label: label.trim(),
    };
    props.onMade(await createRunnerToken(body));
  };
  return (
    <FormDialog title="New runner token" verb="Create token" save={create} onClose={props.onClose}>
      <TextField label="Label" hint="Where the token is used." value={label} onValue={setLabel} />
      <TextField
        label="Runner types"
        hint="Runner types whose tasks it may claim, separated by commas."
        required
        value={types}
        onValue={setTypes}
      />
      <PublishedTypes chosen={typesIn(types)} onChosen={(chosen) => setTypes(chosen.join(', '))} />
      <TextField
        label="Days until it expires"
        hint={`1 to ${maxDays}.`}
        type="number"
        min={1}
        max={maxDays}
        required
        value={days}
        onValue={setDays}
      />
      <CheckField
        label="May also read the outputs of any session for debugging (debug:read)"
        checked={debug}
        onChecked={setDebug}
      />
    </FormDialog>
  );
}
