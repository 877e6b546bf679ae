import { useEffect, useState } from 'preact/hooks';
import type { Webhook, WebhookDelivery } from '../admin-api.ts';
import { listDeliveries, redeliverWebhook, testWebhook } from '../admin-api.ts';
import { formatDateTime } from '../format.ts';
import { useAction, useEvery, useResource } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { RowButton } from '../ui/buttons.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { Badge } from '../ui/state-badge.tsx';
import { figureColumn, Table } from '../ui/table.tsx';

const everyMs = 3_000;

/** What was sent to a webhook, newest first, with test events and redelivery. */
export function WebhookDeliveries({ webhook }: { webhook: Webhook }) {
  const [before, setBefore] = useState<number | null>(null);
  /** As it was last listed: newer ones push it off the page. */
  const [shown, setShown] = useState<WebhookDelivery | null>(null);
  const key = `deliveries ${webhook.id} ${before}`;
  const list = useResource(key, (signal) => listDeliveries(webhook.id, before, signal), {
    keepWhileLoading: true,
  });
  useEvery(everyMs, list.data !== null, list.reload);
  const action = useAction();
  const run = (work: () => Promise<void>) => void action.run(work).then(list.reload);
  const listed = list.data?.deliveries.find(({ id }) => id === shown?.id);
  useEffect(() => {
    if (listed !== undefined) setShown(listed);
  }, [listed]);
  return (
    <section class="section" aria-label="Deliveries">
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
      <Loaded of={list} failure="The deliveries could not be listed." rows={3} label="Loading deliveries">
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Empty title="No deliveries yet">
              <p>Send a test event to see whether the address answers.</p>
            </Empty>
          ) : (
            <DeliveryTable
              deliveries={deliveries}
              mayResend={webhook.enabled}
              onShow={setShown}
              onResend={(id) => run(() => redeliverWebhook(webhook.id, id))}
            />
          )
        }
      </Loaded>
      <PageButtons before={before} next={list.data?.next ?? null} onTurn={setBefore} />
      {shown !== null && <Attempts delivery={shown} onClose={() => setShown(null)} />}
    </section>
  );
}

/** To older deliveries, each page by the place where it begins, and back to the newest. */
function PageButtons(props: {
  before: number | null;
  next: number | null;
  onTurn: (before: number | null) => void;
}) {
  if (props.before === null && props.next === null) return null;
  return (
    <div class="actions">
      {props.before !== null && (
        <button type="button" class="button button-small" onClick={() => props.onTurn(null)}>
          Newest
        </button>
      )}
      {props.next !== null && (
        <button type="button" class="button button-small" onClick={() => props.onTurn(props.next)}>
          Older
        </button>
      )}
    </div>
  );
}

function DeliveryTable(props: {
  deliveries: readonly WebhookDelivery[];
  mayResend: boolean;
  onShow: (delivery: WebhookDelivery) => void;
  onResend: (id: string) => void;
}) {
  return (
    <Table
      caption="Deliveries"
      columns={['Event', 'State', figureColumn('Attempts'), 'Answer', 'Created']}
      actions
    >
      {props.deliveries.map((delivery) => (
        <DeliveryRow
          key={delivery.id}
          delivery={delivery}
          mayResend={props.mayResend}
          onShow={() => props.onShow(delivery)}
          onResend={() => props.onResend(delivery.id)}
        />
      ))}
    </Table>
  );
}

const states = {
  pending: { icon: 'clock', tone: 'waiting', label: 'Pending' },
  delivered: { icon: 'check', tone: 'done', label: 'Delivered' },
  failed: { icon: 'cross', tone: 'failed', label: 'Failed' },
} as const;

/** The events of a session arrive in order. */
const isHeldBack = ({ state, nextAttemptAt }: WebhookDelivery) =>
  state === 'pending' && nextAttemptAt === null;

function DeliveryRow(props: {
  delivery: WebhookDelivery;
  mayResend: boolean;
  onShow: () => void;
  onResend: () => void;
}) {
  const { delivery } = props;
  const last = delivery.attempts.at(-1);
  return (
    <tr>
      <td class="mono">{delivery.type}</td>
      <td data-label="State">
        <Badge {...states[delivery.state]} />
      </td>
      <td data-label="Attempts" class="figure">
        {delivery.attemptCount}
      </td>
      <td data-label="Answer">
        {isHeldBack(delivery)
          ? 'waits for an earlier one of its session'
          : last === undefined
            ? 'none yet'
            : (last.error ?? `Status ${last.status}`)}
      </td>
      <td data-label="Created" class="nowrap">
        <Ago at={delivery.createdAt} />
      </td>
      <td class="table-actions">
        <RowButton label={`Show ${delivery.type} ${delivery.id}`} onClick={props.onShow}>
          Show
        </RowButton>
        <RowButton
          label={`Redeliver ${delivery.type} ${delivery.id}`}
          disabled={!props.mayResend}
          onClick={props.onResend}
        >
          Redeliver
        </RowButton>
      </td>
    </tr>
  );
}

function Attempts({ delivery, onClose }: { delivery: WebhookDelivery; onClose: () => void }) {
  const { id, type, data, attempts, nextAttemptAt } = delivery;
  return (
    <Dialog title={type} onClose={onClose}>
      <div class="form">
        <p class="faint mono">{id}</p>
        <pre class="code">{JSON.stringify(data, null, 2)}</pre>
        {attempts.map((attempt) => (
          <div key={attempt.at}>
            <p>
              <Ago at={attempt.at} />, {attempt.durationMs} ms:{' '}
              {attempt.error ?? `answered with status ${attempt.status}`}
            </p>
            {attempt.response !== null && attempt.response !== '' && (
              <pre class="code">{attempt.response}</pre>
            )}
          </div>
        ))}
        {nextAttemptAt !== null && (
          <p class="faint">The next attempt is planned for {formatDateTime(nextAttemptAt)}.</p>
        )}
      </div>
    </Dialog>
  );
}
