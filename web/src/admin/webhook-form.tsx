import { useState } from 'preact/hooks';
import type { Webhook, WebhookRequest, WebhookWithSecret } from '../admin-api.ts';
import { changeWebhook, createWebhook } from '../admin-api.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { CheckField, FormDialog, SelectField, TextField } from '../ui/form.tsx';

type Event = WebhookRequest['events'][number];

/** A label for each event, in the order of the form. */
const labels: Readonly<Record<Event, string>> = {
  'session.created': 'A session is created',
  'session.settled': 'A session has finished its work',
  'session.closed': 'A session is closed',
  'node.succeeded': 'A node succeeds',
  'node.failed': 'A node fails',
  'output.published': 'An output is published',
  'runner.gone': 'A runner is gone',
  'report.ready': 'A scheduled report is ready',
};
const events = Object.keys(labels) as Event[];

/** `A session is created, a node fails`. */
export function eventWords(names: readonly Event[]): string {
  return events
    .filter((event) => names.includes(event))
    .map((event) => labels[event])
    .map((label, at) => (at === 0 ? label : label.charAt(0).toLowerCase() + label.slice(1)))
    .join(', ');
}

const fieldsOf = (webhook: Webhook | null) => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? (['session.settled', 'node.failed'] as readonly Event[]),
  projectId: webhook?.projectId ?? null,
  enabled: webhook?.enabled ?? true,
});

/** Makes or changes a webhook. `saved` gets the webhook with its secret when it is new. */
export function WebhookForm(props: {
  webhook: Webhook | null;
  projects: readonly { id: number; title: string }[];
  saved: (made: WebhookWithSecret | null) => void;
  onClose: () => void;
}) {
  const { webhook } = props;
  const [fields, setFields] = useState(() => fieldsOf(webhook));
  const set = (part: Partial<typeof fields>) => setFields((before) => ({ ...before, ...part }));
  const save = async () => {
    if (webhook === null) props.saved(await createWebhook(fields));
    else {
      await changeWebhook(webhook.id, changedFields(fieldsOf(webhook), fields));
      props.saved(null);
    }
  };
  const everyProject = { value: '', label: 'Every project' };
  return (
    <FormDialog
      title={webhook === null ? 'New webhook' : 'Edit webhook'}
      verb={webhook === null ? 'Create webhook' : 'Save'}
      names={{ url: 'Address', events: 'Events' }}
      save={save}
      onClose={props.onClose}
    >
      <TextField
        label="Address"
        hint="Events are sent here by POST, for example https://hooks.example.org/platform."
        required
        value={fields.url}
        onValue={(url) => set({ url })}
      />
      <SelectField
        label="Project"
        value={fields.projectId === null ? '' : String(fields.projectId)}
        options={[
          everyProject,
          ...props.projects.map(({ id, title }) => ({ value: String(id), label: title })),
        ]}
        onValue={(id) => set({ projectId: id === '' ? null : Number(id) })}
      />
      <EventFields events={fields.events} onEvents={(events) => set({ events })} />
      <CheckField label="Enabled" checked={fields.enabled} onChecked={(enabled) => set({ enabled })} />
    </FormDialog>
  );
}

function EventFields(props: { events: readonly Event[]; onEvents: (events: readonly Event[]) => void }) {
  return (
    <fieldset class="field">
      <legend>Events</legend>
      {events.map((event) => (
        <CheckField
          key={event}
          label={labels[event]}
          checked={props.events.includes(event)}
          onChecked={(on) =>
            props.onEvents(on ? [...props.events, event] : props.events.filter((one) => one !== event))
          }
        />
      ))}
    </fieldset>
  );
}
