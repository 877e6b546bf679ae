/** Live events of a session (server-sent events), for the console, the command line and dashboards. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { eventStreamHeaders } from '../../http/bodies/event-stream.ts';
import { defineRoute } from '../route.ts';
import { isStillAllowed } from '../session-guard.ts';
import { sessionParams } from '../sessions/schema.ts';
import { placeOf } from './events.ts';
import type { Follower } from './follower.ts';
import { eventSchemas } from './schema.ts';

const description = `An endless \`text/event-stream\`. Kinds of events, each with JSON in \`data\`:

- \`node\`: the current state of a node instance, as in the session's progress. A new caller gets all of them first.
- \`output\`: a published output (\`SessionOutputEvent\`).
- \`attempt\`: an attempt of a node's run that started or ended (\`SessionAttemptEvent\`).
- \`window\`: frozen, open or closed, window and number of participants (\`SessionWindowEvent\`). A new caller gets it too.
- \`deleted\`: the session was deleted; the last event.

In a group of events the last one has the \`id\`. Send it back as \`Last-Event-ID\`, to any server of the
platform, to get every output published since, in order, the attempts since, and the current state of the nodes: nothing is
missed, and events in progress may come twice. Missed events come as fast as the caller reads them. A caller that reads
more slowly than events arrive still gets every output, and for nodes only the latest state. The stream ends with
the token that opened it, and with the caller's right to read it.`;

const allowed = access.progressRead;

const events = defineRoute({
  id: 'followSession',
  method: 'GET',
  path: '/api/v2/sessions/{id}/events',
  share: 'sessionEvents',
  traced: false,
  summary: 'Streams the events of a session: node states, outputs, attempts, window',
  description,
  tags: ['Sessions'],
  access: allowed,
  params: sessionParams,
  headers: z.object({
    'last-event-id': z.string().optional().meta({
      description: 'The id of the last received event. Other values are ignored.',
      example: '1772359452345-12',
    }),
  }),
  responses: {
    200: {
      description: 'The stream of events.',
      media: 'text/event-stream',
      pieces: Object.values(eventSchemas),
      example: `event: deleted\ndata: {"sessionId":"${exampleValues.sessionId}"}\n\n`,
    },
  },
  errors: ['sessionNotFound', 'unavailable'],
  refusals: { params: 'sessionNotFound' },
  async handler({ params, headers, principal, services, request, requestId, shutdown }) {
    const { sessionEvents } = services;
    const since = placeOf(headers['last-event-id']);
    const follower = await sessionEvents.follow(params.id, since, shutdown);
    if (follower === undefined) throw new Problem('sessionNotFound');
    const call = { params, headers: request.headers, principal, requestId };
    keepAlive(follower, () => isStillAllowed(services, { id: 'followSession', access: allowed }, call));
    return {
      status: 200,
      stream: follower.stream,
      headers: eventStreamHeaders,
    };
  },
});

/** Shows proxies and callers that the stream is alive, and ends it when the caller may no longer read it. */
function keepAlive(follower: Follower, isAllowed: () => Promise<boolean>): void {
  const timer = setInterval(() => {
    if (!follower.isFollowing) return clearInterval(timer);
    isAllowed().then(
      (isStill) => (isStill ? follower.keepAlive() : follower.end()),
      // When the check cannot be made, the caller has to reconnect with the token.
      () => follower.end(),
    );
  }, limits.sessionEventKeepAliveSeconds * 1000).unref();
  follower.stream.once('close', () => clearInterval(timer));
}

export const sessionEventRoutes = [events];
