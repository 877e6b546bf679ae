/**
 * The end of a listening server that costs nobody a request, whoever stands in front of it.
 *
 * serving -> leaving -> closing -> closed
 *
 * leaving: everything is answered as before, but by replies that close their connection, and readiness says no; so
 *   whoever balances between servers sends nothing more before the port is closed, when a connection that is on its way
 *   would be refused after it was taken.
 * closing: no new connections; what waits is answered, what is under way may end. A connection that is open and quiet
 *   may be met by a request at the very moment in which it is closed, so it stays for longer than a balancer keeps one.
 */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';

export interface StopPlan {
  /** Made aborted when the server begins to leave. */
  readonly leaving: AbortController;
  /** How long it leaves; 0 where nobody balances. */
  readonly leaveSeconds: number;
  /** Made aborted when it begins to close. */
  readonly shutdown: AbortController;
  /** How long requests under way may go on, from then on. */
  readonly graceSeconds: number;
}

/** Resolves when every connection is closed. */
export async function stopGracefully(server: Server, plan: StopPlan): Promise<void> {
  plan.leaving.abort();
  if (plan.leaveSeconds > 0) await delay(plan.leaveSeconds * 1000);
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), plan.graceSeconds * 1000);
    const lingerSeconds = plan.leaveSeconds > 0 ? limits.balancerIdleSeconds : 0;
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), 100);
    }, lingerSeconds * 1000);
    // Not the HTTP server's own way to close, which cuts quiet connections at once.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearTimeout(linger);
      clearInterval(sweep);
      resolve();
    });
    if (lingerSeconds === 0) server.closeIdleConnections();
    plan.shutdown.abort();
  });
}
