/** Headers of a reply that is a stream of server-sent events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that buffer replies would delay events.
  'x-accel-buffering': 'no',
} as const;
