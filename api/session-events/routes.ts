/** Live events of a session (server-sent events), for the console, the command line and dashboards. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { story } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import type { Principal } from '../identity/auth-client.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { sessionParams } from '../sessions/schema.ts';
import { placeOf } from './events.ts';
import type { Follower } from './follower.ts';
import { attemptEventSchema, outputEventSchema, windowEventSchema } from './schema.ts';

const description = `An endless \`text/event-stream\`. Kinds of events, each with JSON in \`data\`:

- \`node\`: a node instance as it stands, as in the session's progress. A new caller gets all of them first.
- \`output\`: an output that was published (\`SessionOutputEvent\`).
- \`attempt\`: an attempt of a node's run that started or ended (\`SessionAttemptEvent\`).
- \`window\`: frozen, open or closed, window and number of participants (\`SessionWindowEvent\`). New callers get it too.
- \`deleted\`: the session is gone; the last event.

Events that belong together carry their \`id\` with the last of them. Sent back as \`Last-Event-ID\`, to any server of the
platform, it brings every output published since, in order, the attempts since, and the nodes as they stand: nothing is
missed, and what was under way may come twice. What was missed comes as fast as the caller reads it; a caller who reads
more slowly than events come gets every output all the same, and of nodes how they stand by then. The stream ends with
the token that it was opened with.`;

const events = defineRoute({
  id: 'followSession',
  method: 'GET',
  path: '/api/v2/sessions/{id}/events',
  share: 'sessionEvents',
  traced: false,
  summary: 'Follows a session: node states, outputs, attempts, window',
  description,
  tags: ['Sessions'],
  access: access.progressRead,
  params: sessionParams,
  headers: z.object({
    'last-event-id': z.string().optional().meta({
      description: 'The id of the last event that was received; anything else counts as none.',
      example: '1772359452345-12',
    }),
  }),
  responses: {
    200: {
      description: 'The events as they come.',
      media: 'text/event-stream',
      pieces: [outputEventSchema, attemptEventSchema, windowEventSchema],
      example: `event: deleted\ndata: {"sessionId":"${story.sessionId}"}\n\n`,
    },
  },
  errors: ['sessionNotFound', 'unavailable'],
  refusals: { params: 'sessionNotFound' },
  async handler({ params, headers, principal, services, requestId, shutdown }) {
    const { sessionEvents } = services;
    const since = placeOf(headers['last-event-id']);
    const follower = await sessionEvents.follow(params.id, since, shutdown);
    if (follower === undefined) throw new Problem('sessionNotFound');
    keepAlive(services, follower, principal, requestId);
    return {
      status: 200,
      stream: follower.stream,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Proxies that buffer replies would delay events.
        'x-accel-buffering': 'no',
      },
    };
  },
});

/** Shows proxies and callers that the stream is alive, and ends it with the caller's token. */
function keepAlive(services: Services, follower: Follower, { bearer }: Principal, requestId: string): void {
  const timer = setInterval(() => {
    if (!follower.isFollowing) return clearInterval(timer);
    services.auth.identify(bearer, requestId).then(
      (person) => (person === null ? follower.end() : follower.keepAlive()),
      // When the check cannot be made, the caller has to reconnect with the token.
      () => follower.end(),
    );
  }, limits.sessionEventKeepAliveSeconds * 1000).unref();
  follower.stream.once('close', () => clearInterval(timer));
}

export const sessionEventRoutes = [events];
