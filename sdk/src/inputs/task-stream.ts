/** Streams that live as long as their task. */
import type { Readable } from 'node:stream';
import type { TaskCalls } from '../calls/task-calls.ts';

/**
 * Binds a stream to a task. A cancel breaks it with the signal's reason. When the task has ended the stream ends
 * without an `error` event: code that still runs must not end the process, in which other tasks run.
 */
export function boundTo(calls: TaskCalls, stream: Readable): Readable {
  const { signal } = calls;
  const onAbort = () => stream.destroy(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', onAbort));
  // A decoder already has listeners of the stream that feeds it.
  const ownListeners = stream.listenerCount('error');
  const emit = stream.emit;
  stream.emit = function (this: Readable, event: string | symbol, ...values: unknown[]): boolean {
    const pass = () => Reflect.apply(emit, this, [event, ...values]);
    if (event !== 'error') return pass();
    // Readers that wait for the stream learn of its end by `close`.
    if (calls.hasEnded) return false;
    let isHeard = this.listenerCount('error') > ownListeners;
    try {
      pass();
    } catch (error) {
      // Without a listener Node throws the error itself; so does a line reader whose loop was left.
      if (error !== values[0]) throw error;
      isHeard = false;
    }
    if (!isHeard) calls.unheard(values[0]);
    return isHeard;
  };
  return stream;
}
