/**
 * Stops a listening server without losing a request, with any load balancer in front of it.
 *
 * serving -> leaving -> closing -> closed
 *
 * leaving: requests are answered as before, but replies close their connection and readiness fails; so a load balancer
 *   stops sending before the port is closed. Closing the port would reset connections that the kernel had already
 *   accepted.
 * closing: no new connections; waiting calls are answered, open ones may finish. A request may arrive on an idle
 *   connection just as it is closed, so it stays open longer than a balancer keeps one.
 */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';

export interface StopPlan {
  /** Aborted by the server when it begins to leave. */
  readonly leaving: AbortController;
  /** How long it leaves; 0 without a load balancer. */
  readonly leaveSeconds: number;
  /** Aborted by the server when it begins to close. */
  readonly shutdown: AbortController;
  /** How long open requests may continue from then on. */
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
    // Not the HTTP server's own `close`, which cuts idle connections at once.
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
