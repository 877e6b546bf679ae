import { useState } from 'preact/hooks';
import type { Webhook, WebhookDelivery } from '../admin-api.ts';
import { listDeliveries, redeliverWebhook, testWebhook } from '../admin-api.ts';
import { formatAgo } from '../format.ts';
import { useAction, useEvery, useNow, useResource } from '../hooks.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';
import { Table } from '../ui/table.tsx';

const everyMs = 3_000;

/** What was sent to a webhook, newest first, with test events and redelivery. */
export function WebhookDeliveries({ webhook }: { webhook: Webhook }) {
  const [before, setBefore] = useState<number | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const key = `deliveries ${webhook.id} ${before}`;
  const list = useResource(key, (signal) => listDeliveries(webhook.id, before, signal), {
    keepWhileLoading: true,
  });
  useEvery(everyMs, list.data !== null, list.reload);
  const action = useAction();
  const run = (work: () => Promise<void>) => void action.run(work).then(list.reload);
  const deliveries = list.data?.deliveries ?? [];
  const detailed = deliveries.find(({ id }) => id === shown);
  return (
    <section aria-label="Deliveries">
      <div class="part-head">
        <button
          type="button"
          class="button button-small"
          disabled={!webhook.enabled}
          onClick={() => run(() => testWebhook(webhook.id))}
        >
          Send test event
        </button>
      </div>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {list.error !== null && (
        <Failure what="The deliveries could not be listed." error={list.error} retry={list.reload} />
      )}
      {list.data === null && list.error === null && <Placeholder rows={3} label="Loading deliveries" />}
      {list.data !== null && deliveries.length === 0 && (
        <Empty title="No deliveries yet">
          <p>Send a test event to see whether the address answers.</p>
        </Empty>
      )}
      {deliveries.length > 0 && (
        <Table caption="Deliveries" columns={['Event', 'State', 'Attempts', 'Answer', 'Created']} actions>
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.id}
              delivery={delivery}
              mayResend={webhook.enabled}
              onShow={() => setShown(delivery.id)}
              onResend={() => run(() => redeliverWebhook(webhook.id, delivery.id))}
            />
          ))}
        </Table>
      )}
      <div class="actions">
        {before !== null && (
          <button type="button" class="button button-small" onClick={() => setBefore(null)}>
            Newest
          </button>
        )}
        {list.data?.next != null && (
          <button type="button" class="button button-small" onClick={() => setBefore(list.data!.next)}>
            Older
          </button>
        )}
      </div>
      {detailed !== undefined && <Attempts delivery={detailed} onClose={() => setShown(null)} />}
    </section>
  );
}

const states = {
  pending: { icon: 'clock', tone: 'waiting', label: 'Pending' },
  delivered: { icon: 'check', tone: 'done', label: 'Delivered' },
  failed: { icon: 'cross', tone: 'failed', label: 'Failed' },
} as const;

function DeliveryRow(props: {
  delivery: WebhookDelivery;
  mayResend: boolean;
  onShow: () => void;
  onResend: () => void;
}) {
  const { delivery } = props;
  const now = useNow(true);
  const state = states[delivery.state];
  const last = delivery.attempts.at(-1);
  return (
    <tr>
      <td class="mono">{delivery.type}</td>
      <td data-label="State">
        <span class={`badge state-${state.tone}`}>
          <Icon name={state.icon} />
          <span>{state.label}</span>
        </span>
      </td>
      <td data-label="Attempts" class="number">
        {delivery.attemptCount}
      </td>
      <td data-label="Answer">{last === undefined ? 'none yet' : (last.error ?? `Status ${last.status}`)}</td>
      <td data-label="Created" class="nowrap">
        {formatAgo(delivery.createdAt, now)}
      </td>
      <td class="table-actions">
        <button
          type="button"
          class="button button-small"
          aria-label={`Show ${delivery.type} ${delivery.id}`}
          onClick={props.onShow}
        >
          Show
        </button>
        <button
          type="button"
          class="button button-small"
          disabled={!props.mayResend}
          aria-label={`Redeliver ${delivery.type} ${delivery.id}`}
          onClick={props.onResend}
        >
          Redeliver
        </button>
      </td>
    </tr>
  );
}

function Attempts({ delivery, onClose }: { delivery: WebhookDelivery; onClose: () => void }) {
  const now = useNow(true);
  const { id, type, data, attempts, nextAttemptAt } = delivery;
  return (
    <Dialog title={type} onClose={onClose}>
      <div class="form">
        <p class="faint mono">{id}</p>
        <pre class="code">{JSON.stringify(data, null, 2)}</pre>
        {attempts.map((attempt) => (
          <div key={attempt.at}>
            <p>
              {formatAgo(attempt.at, now)}, {attempt.durationMs} ms:{' '}
              {attempt.error ?? `answered with status ${attempt.status}`}
            </p>
            {attempt.response !== null && attempt.response !== '' && (
              <pre class="code">{attempt.response}</pre>
            )}
          </div>
        ))}
        {nextAttemptAt !== null && <p class="faint">The next attempt is planned for {nextAttemptAt}.</p>}
      </div>
    </Dialog>
  );
}
