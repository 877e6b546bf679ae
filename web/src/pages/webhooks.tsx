import { useState } from 'preact/hooks';
import { NewSecret } from '../admin/new-secret.tsx';
import { WebhookDeliveries } from '../admin/webhook-deliveries.tsx';
import { eventWords, WebhookForm } from '../admin/webhook-form.tsx';
import type { Webhook } from '../admin-api.ts';
import { deleteWebhook, listProjects, listWebhooks, rotateWebhookSecret } from '../admin-api.ts';
import { useEvery, useResource, useTitle } from '../hooks.ts';
import { AddButton, RowButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';

/** The platform disables a webhook whose receiver refuses for good. */
const refreshMs = 5_000;

type Open = { what: 'form' | 'rotate' | 'delete'; webhook: Webhook | null } | null;

/** Addresses that the platform notifies of events. */
export function WebhooksPage() {
  useTitle('Webhooks');
  const list = useResource('webhooks', listWebhooks, { keepWhileLoading: true });
  useEvery(refreshMs, list.data !== null, list.reload);
  const projects = useResource('webhook-projects', listProjects);
  const [open, setOpen] = useState<Open>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setOpen(null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Webhooks</h1>
        <AddButton disabled={projects.data === null} onClick={() => setOpen({ what: 'form', webhook: null })}>
          New webhook
        </AddButton>
      </div>
      <Loaded of={list} failure="The webhooks could not be listed." rows={3} label="Loading webhooks">
        {(webhooks) => <WebhookList webhooks={webhooks} projects={projects.data} onOpen={setOpen} />}
      </Loaded>
      {open?.what === 'form' && projects.data !== null && (
        <WebhookForm
          webhook={open.webhook}
          projects={projects.data}
          onClose={close}
          saved={(made) => {
            close();
            setSecret(made?.secret ?? null);
            list.reload();
          }}
        />
      )}
      {open !== null && open.webhook !== null && open.what !== 'form' && (
        <Question
          what={open.what}
          webhook={open.webhook}
          onClose={close}
          onSecret={setSecret}
          onDone={list.reload}
        />
      )}
      {secret !== null && (
        <NewSecret title="The secret of the webhook" value={secret} onClose={() => setSecret(null)}>
          The receiver checks the header webhook-signature with it, as Standard Webhooks says.
        </NewSecret>
      )}
    </div>
  );
}

function WebhookList(props: {
  webhooks: readonly Webhook[];
  /** Null while they are loaded. */
  projects: readonly { id: number; title: string }[] | null;
  onOpen: (open: Open) => void;
}) {
  if (props.webhooks.length === 0)
    return (
      <Empty title="No webhooks yet">
        <p>A webhook sends events of sessions, nodes and runners to an address of yours, signed.</p>
      </Empty>
    );
  return (
    <ul class="cards">
      {props.webhooks.map((webhook) => (
        <WebhookCard
          key={webhook.id}
          webhook={webhook}
          project={props.projects?.find(({ id }) => id === webhook.projectId)?.title ?? null}
          onOpen={props.onOpen}
        />
      ))}
    </ul>
  );
}

/** Asks before a secret is replaced or a webhook is deleted. */
function Question(props: {
  what: 'rotate' | 'delete';
  webhook: Webhook;
  onClose: () => void;
  onSecret: (secret: string) => void;
  onDone: () => void;
}) {
  const { webhook, onClose, onDone } = props;
  if (props.what === 'delete')
    return (
      <Confirm
        title={`Delete the webhook to ${webhook.url}?`}
        verb="Delete"
        act={async () => {
          await deleteWebhook(webhook.id);
          onDone();
        }}
        onClose={onClose}
      >
        Its deliveries are deleted too. What is pending is not sent.
      </Confirm>
    );
  return (
    <Confirm
      title="Replace the secret?"
      verb="Replace secret"
      act={async () => {
        props.onSecret((await rotateWebhookSecret(webhook.id)).secret);
        onDone();
      }}
      onClose={onClose}
    >
      For 24 hours events are signed with both secrets. Change the receiver within that time.
    </Confirm>
  );
}

/** A reason alone does not say that the webhook is disabled. */
const stateWords = ({ enabled, disabledReason }: Webhook) =>
  enabled ? 'enabled' : disabledReason === null ? 'disabled' : `disabled: ${disabledReason}`;

function WebhookCard(props: { webhook: Webhook; project: string | null; onOpen: (open: Open) => void }) {
  const { webhook } = props;
  const [isOpen, setIsOpen] = useState(false);
  const button = (what: 'form' | 'rotate' | 'delete', verb: string) => (
    <RowButton label={`${verb}: ${webhook.url}`} onClick={() => props.onOpen({ what, webhook })}>
      {verb}
    </RowButton>
  );
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h2 class="wrap-anywhere">{webhook.url}</h2>
          <p class="faint">
            {stateWords(webhook)} ·{' '}
            {webhook.projectId === null ? 'every project' : (props.project ?? `project ${webhook.projectId}`)}{' '}
            · {eventWords(webhook.events)}
          </p>
        </div>
        <div class="actions">
          {button('form', 'Edit')}
          {button('rotate', 'New secret')}
          {button('delete', 'Delete')}
        </div>
      </div>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Deliveries</summary>
        {isOpen && <WebhookDeliveries webhook={webhook} />}
      </details>
    </li>
  );
}
