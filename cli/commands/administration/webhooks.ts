/** `sdp webhooks`: addresses that the platform notifies of events. A new secret is shown once. */
import { Option } from 'commander';
import type { Query } from '../../../client/api-client.ts';
import type { WebhookChangeRequest, WebhookDelivery, WebhookRequest } from '../../../client/types.ts';
import { type AddCommand, collectOption, examples, id, uuid, wholeNumber } from '../../cli.ts';
import { UsageError } from '../../errors.ts';
import { findProject } from '../../find-by-name.ts';
import { table, time } from '../../output.ts';

const exampleId = '0197f3aa-7b1e-7c55-9d0e-5a6f1f2b3c4d';

export const addWebhooks: AddCommand = (program, cli) => {
  const webhooks = program.command('webhooks').description('Events that are pushed to an address.');
  webhooks
    .command('list')
    .description('Lists all webhooks.')
    .addHelpText('after', examples('webhooks list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/webhooks');
      cli.print(found, () =>
        table(found, {
          ID: (one) => one.id,
          URL: ({ url }) => url,
          EVENTS: ({ events }) => events.join(', '),
          PROJECT: ({ projectId }) => projectId,
          ENABLED: ({ enabled, disabledReason }) => disabledReason ?? enabled,
        }),
      );
    });
  webhooks
    .command('create')
    .description('Creates a webhook.')
    .argument('<url>')
    .addOption(
      new Option('--event <name>', 'an event; repeatable').argParser(collectOption).makeOptionMandatory(),
    )
    .option('--project <name>', 'only events of this project, by title or id')
    .addHelpText('after', examples('webhooks create https://hooks.example.org/sdp --event session.settled'))
    .action(async (url: string, { event, project }: { event: readonly string[]; project?: string }) => {
      const platform = await cli.connect();
      const body: WebhookRequest = {
        url,
        events: event as WebhookRequest['events'],
        projectId: project === undefined ? null : (await findProject(platform, project)).id,
      };
      const made = await platform.call('POST /api/v2/admin/webhooks', { body });
      cli.printSecret(made, made.secret, `The secret of webhook ${made.id} is shown once.`);
    });
  addUpdate(webhooks, cli);
  addChanging(webhooks, cli);
  addSending(webhooks, cli);
  addDeliveries(webhooks, cli);
};

interface Changes {
  readonly to?: string;
  readonly event?: readonly string[];
  readonly enable?: boolean;
  readonly disable?: boolean;
}

const addUpdate: AddCommand = (webhooks, cli) => {
  webhooks
    .command('update')
    .description('Changes a webhook, disables it, or enables it again after its receiver answered 410.')
    .argument('<id>', 'id of the webhook', uuid)
    // --url is the address of the platform.
    .option('--to <url>', 'where events are sent')
    .addOption(
      new Option('--event <name>', 'the events, in place of those before; repeatable').argParser(
        collectOption,
      ),
    )
    .option('--enable', 'sends events, and what is pending')
    .addOption(
      new Option('--disable', 'records and sends nothing; what is pending waits').conflicts('enable'),
    )
    .addHelpText(
      'after',
      examples(
        `webhooks update ${exampleId} --enable`,
        `webhooks update ${exampleId} --event node.failed --event session.settled`,
      ),
    )
    .action(async (webhook: string, { to, event, enable = false, disable = false }: Changes) => {
      if (to === undefined && event === undefined && !enable && !disable)
        throw new UsageError('Name what changes: --to, --event, --enable or --disable.');
      const body: WebhookChangeRequest = {
        url: to,
        events: event as WebhookChangeRequest['events'],
        enabled: enable || disable ? enable : undefined,
      };
      const platform = await cli.connect();
      const params = { id: webhook };
      const changed = await platform.call('PUT /api/v2/admin/webhooks/{id}', { params, body });
      const state = changed.enabled ? 'enabled' : 'disabled';
      cli.print(changed, () => `${changed.url} is ${state} for ${changed.events.join(', ')}.`);
    });
};

const addChanging: AddCommand = (webhooks, cli) => {
  webhooks
    .command('rotate-secret')
    .description('Replaces the secret; both are used for 24 hours.')
    .argument('<id>', 'id of the webhook', uuid)
    .addHelpText('after', examples(`webhooks rotate-secret ${exampleId}`))
    .action(async (webhook: string) => {
      const platform = await cli.connect();
      const params = { id: webhook };
      const made = await platform.call('POST /api/v2/admin/webhooks/{id}/rotate-secret', { params });
      const old =
        made.previousSecretUntil === null
          ? 'The old one is not used any more: it was stored under another SECRETS_KEY.'
          : `The old one is used until ${time(made.previousSecretUntil)}.`;
      cli.printSecret(made, made.secret, `The secret is shown once. ${old}`);
    });
  webhooks
    .command('delete')
    .description('Deletes a webhook and its deliveries.')
    .argument('<id>', 'id of the webhook', uuid)
    .addHelpText('after', examples(`webhooks delete ${exampleId}`))
    .action(async (webhook: string) => {
      await (await cli.connect()).call('DELETE /api/v2/admin/webhooks/{id}', { params: { id: webhook } });
      cli.print({ id: webhook, deleted: true }, () => 'Deleted.');
    });
};

const addSending: AddCommand = (webhooks, cli) => {
  webhooks
    .command('test')
    .description('Sends a test event.')
    .argument('<id>', 'id of the webhook', uuid)
    .addHelpText('after', examples(`webhooks test ${exampleId}`))
    .action(async (webhook: string) => {
      const params = { id: webhook };
      const sent = await (await cli.connect()).call('POST /api/v2/admin/webhooks/{id}/test', { params });
      cli.print(sent, () => `Queued as ${sent.id}. \`sdp webhooks deliveries\` shows what came of it.`);
    });
  webhooks
    .command('redeliver')
    .description('Sends a delivery again.')
    .argument('<id>', 'id of the webhook', uuid)
    .argument('<delivery>', 'id of the delivery', uuid)
    .addHelpText('after', examples(`webhooks redeliver ${exampleId} 5f0d8a4e-3b0e-4d59-8f57-0f4b7f3a1c2d`))
    .action(async (webhook: string, deliveryId: string) => {
      const platform = await cli.connect();
      const route = 'POST /api/v2/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver';
      const sent = await platform.call(route, { params: { id: webhook, deliveryId } });
      cli.print(sent, () => `Queued again as ${sent.id}.`);
    });
};

const addDeliveries: AddCommand = (webhooks, cli) => {
  webhooks
    .command('deliveries')
    .description('Lists the deliveries of a webhook, newest first.')
    .argument('<id>', 'id of the webhook', uuid)
    .addOption(new Option('--state <state>').choices(['pending', 'delivered', 'failed']))
    .option('--limit <number>', 'deliveries to list', wholeNumber(1, 100))
    .option('--before <number>', 'continues a list: the number below the previous page', id)
    .addHelpText('after', examples(`webhooks deliveries ${exampleId} --state failed`))
    .action(async (webhook: string, query: Query<'GET /api/v2/admin/webhooks/{id}/deliveries'>) => {
      const platform = await cli.connect();
      const params = { id: webhook };
      const found = await platform.call('GET /api/v2/admin/webhooks/{id}/deliveries', { params, query });
      const more = found.next === null ? '' : `\nMore: --before ${found.next}`;
      cli.print(
        found,
        () =>
          table(found.deliveries, {
            ID: (one) => one.id,
            EVENT: ({ type }) => type,
            AT: ({ createdAt }) => time(createdAt),
            STATE: ({ state }) => state,
            ATTEMPTS: ({ attemptCount }) => attemptCount,
            'LAST ATTEMPT': ({ attempts }) => attempts.at(-1)?.error ?? attempts.at(-1)?.status ?? null,
            'NEXT ATTEMPT': nextAttempt,
          }) + more,
      );
    });
};

function nextAttempt({ state, nextAttemptAt }: WebhookDelivery): string | null {
  if (state !== 'pending') return null;
  return nextAttemptAt === null ? 'after an earlier one of its session' : time(nextAttemptAt);
}
