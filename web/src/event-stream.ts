/** Server-sent events over fetch, which unlike EventSource can carry a bearer token. */

import type { ServerEvent } from './event-parser.ts';
import { EventParser } from './event-parser.ts';

/**
 * Reads the answer's events until it ends. Comments count as signs of life: when not a byte has come for
 * `silenceMs`, the connection is dead and the reading ends.
 */
export async function readEvents(
  response: Response,
  onEvent: (event: ServerEvent) => void,
  silenceMs: number,
): Promise<void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const timer = window.setTimeout(() => void reader.cancel(), silenceMs);
      const { done, value } = await reader.read().finally(() => window.clearTimeout(timer));
      if (done) return;
      for (const event of parser.push(decoder.decode(value, { stream: true }))) onEvent(event);
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
