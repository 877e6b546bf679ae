/** Events that are followed over lines that break, without a platform. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { follow } from '../../cli/follow.ts';
import { BackOff } from '../../client/back-off.ts';
import { ApiError, NetworkError } from '../../client/errors.ts';
import type { EventsSettings } from '../../client/event-stream.ts';

interface Event {
  readonly kind: string;
  readonly id: string | null;
}

/** What is followed when each connection has these events and then breaks, and from which event each one continues. */
async function followed(connection: (settings: EventsSettings, number: number) => readonly Event[] | Error) {
  const wait = vi.spyOn(BackOff.prototype, 'wait').mockImplementation(async function (this: BackOff, error) {
    this.nextMs(error);
  });
  onTestFinished(() => wait.mockRestore());
  const after: (string | null)[] = [];
  const connect = async function* (settings: EventsSettings) {
    after.push(settings.lastEventId);
    const events = connection(settings, after.length);
    if (events instanceof Error) throw events;
    yield* events;
    throw new NetworkError('The event stream broke.');
  };
  const kinds: string[] = [];
  let error: unknown;
  try {
    for await (const { kind } of follow(connect, 'end')) kinds.push(kind);
  } catch (thrown) {
    error = thrown;
  }
  return { after, kinds, error };
}

test('each connection continues after the last event that has an id, and the last one ends it', async () => {
  const connections = [
    [
      { kind: 'a', id: '1' },
      { kind: 'b', id: '2' },
      { kind: 'state', id: null },
    ],
    [],
    [
      { kind: 'c', id: '3' },
      { kind: 'end', id: '4' },
      { kind: 'later', id: '5' },
    ],
  ];
  const { after, kinds, error } = await followed((_, number) => connections[number - 1]!);
  expect([after, kinds, error]).toEqual([[null, '2', '2'], ['a', 'b', 'state', 'c', 'end'], undefined]);
});

test('a platform that stays away ends it after some tries, and each sign of life begins them anew', async () => {
  const away = new NetworkError('away');
  const gone = await followed(() => away);
  expect([gone.after.length, gone.error]).toEqual([15, away]);
  const seldom = await followed((settings, number) => {
    if (number % 10 === 0) settings.onBytes?.();
    return number < 60 ? away : [{ kind: 'end', id: null }];
  });
  expect([seldom.after.length, seldom.error]).toEqual([60, undefined]);
});

test('a refusal ends it at once', async () => {
  const refusal = new ApiError({ status: 404, message: 'Session not found.' });
  const { after, error } = await followed(() => refusal);
  expect([after.length, error]).toEqual([1, refusal]);
});
