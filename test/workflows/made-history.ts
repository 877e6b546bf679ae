/** Histories that no test could bring about in time, made of the events of a recorded one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Event {
  readonly eventType: string;
  readonly [attributes: string]: unknown;
}

const folder = join(import.meta.dirname, '../histories');

/** `TIMER_FIRED`: `timerFiredEventAttributes`. */
const attributesOf = (type: string) =>
  `${type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}EventAttributes`;

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

export class MadeHistory {
  readonly #recorded: readonly Event[];
  readonly #events: object[] = [];
  #completed = '';
  #activities = 0;

  /** @param file of the recorded history; begins with its start and a first workflow task */
  constructor(file: string) {
    this.#recorded = (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { events: Event[] }).events;
    this.add('WORKFLOW_EXECUTION_STARTED');
    this.workflowTask();
  }

  /** An event as the last recorded one of its type, with other attributes. @returns its id */
  add(type: string, attributes: Readonly<Record<string, unknown>> = {}): string {
    const eventType = `EVENT_TYPE_${type}`;
    const event = this.#recorded.findLast((one) => one.eventType === eventType) ?? this.#recorded.at(-1)!;
    const name = attributesOf(type);
    const last = attributesOf(event.eventType.slice('EVENT_TYPE_'.length));
    const { [last]: recorded, ...head } = event;
    const eventId = `${this.#events.length + 1}`;
    const given = last === name ? (recorded as object) : {};
    this.#events.push({ ...head, eventType, eventId, [name]: { ...given, ...attributes } });
    return eventId;
  }

  workflowTask(): void {
    const scheduledEventId = this.add('WORKFLOW_TASK_SCHEDULED');
    const startedEventId = this.add('WORKFLOW_TASK_STARTED', { scheduledEventId });
    this.#completed = this.add('WORKFLOW_TASK_COMPLETED', { scheduledEventId, startedEventId });
  }

  /** What the workflow commands in the last workflow task. @returns the id of the event */
  command(type: string, attributes: Readonly<Record<string, unknown>> = {}): string {
    return this.add(type, { ...attributes, workflowTaskCompletedEventId: this.#completed });
  }

  /** The workflow is woken, and acts in a new workflow task. */
  wake(): void {
    this.add('WORKFLOW_EXECUTION_SIGNALED');
    this.workflowTask();
  }

  /** A local activity that answers so. */
  localActivity(name: string, result: unknown): void {
    const seq = ++this.#activities;
    const complete_time = { seconds: 1_795_259_938, nanos: 0 };
    const fact = { seq, attempt: 1, activity_id: `${seq}`, activity_type: name, complete_time };
    const data = { ...fact, backoff: null, original_schedule_time: complete_time };
    const payloads = (value: unknown) => ({
      payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: base64(value) }],
    });
    this.command('MARKER_RECORDED', {
      markerName: 'core_local_activity',
      details: { data: payloads(data), result: payloads(result) },
    });
  }

  /** @returns a function that lets the timer end */
  timer(timerId: string): (how: 'fires' | 'is cancelled') => void {
    const startedEventId = this.command('TIMER_STARTED', { timerId, startToFireTimeout: { seconds: '1' } });
    return (how) => {
      if (how === 'is cancelled') this.command('TIMER_CANCELED', { timerId, startedEventId });
      else {
        this.add('TIMER_FIRED', { timerId, startedEventId });
        this.workflowTask();
      }
    };
  }

  continuedAsNew(): void {
    const start = this.#events[0] as { workflowExecutionStartedEventAttributes: Event };
    const { workflowType, taskQueue, input } = start.workflowExecutionStartedEventAttributes;
    const next = { workflowType, taskQueue, input, newExecutionRunId: 'next' };
    this.command('WORKFLOW_EXECUTION_CONTINUED_AS_NEW', next);
  }

  get text(): string {
    return JSON.stringify({ events: this.#events });
  }
}
