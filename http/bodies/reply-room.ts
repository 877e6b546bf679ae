/**
 * Room for long JSON replies: each is held in memory until its caller has read it, which a slow one puts off for minutes.
 * Short ones need none, since connections are bounded; lists and files that are streamed are never held.
 */
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { RouteMiddleware } from '../call.ts';
import type { Route } from '../route.ts';
import type { CallerKey } from './json-body.ts';

export class ReplyRoom {
  /** By caller. A caller without unread replies has no entry. */
  readonly #byCaller = new Map<string, number>();
  #bytes = 0;

  /** Whether there is no room for one more; a caller's only one always finds room of its own. */
  isFull(caller: string, bytes: number): boolean {
    const own = this.#byCaller.get(caller) ?? 0;
    if (own > 0 && own + bytes > limits.unreadRepliesBytesPerCaller) return true;
    return this.#bytes > 0 && this.#bytes + bytes > limits.unreadRepliesBytes;
  }

  /** @returns a function that releases the room, to be called once */
  add(caller: string, bytes: number): () => void {
    this.#change(caller, bytes);
    return () => this.#change(caller, -bytes);
  }

  #change(caller: string, by: number): void {
    this.#bytes += by;
    const own = (this.#byCaller.get(caller) ?? 0) + by;
    if (own === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, own);
  }
}

/**
 * Makes the bytes of a JSON reply, and holds these alone until they are read. Where callers leave too many unread, a further
 * long one is refused with 503, unless its call has changed something.
 */
export function roomForReply(callerKey: CallerKey): RouteMiddleware {
  const room = new ReplyRoom();
  return (route) =>
    async ({ state }, next) => {
      await next();
      const { reply } = state;
      if (reply === null || reply.body === undefined) return;
      const { body, ...rest } = reply;
      const text = JSON.stringify(body);
      const headers = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
      state.reply = { ...rest, headers, stream: text };
      if (text.length <= limits.jsonBodySmallBytes) return;
      const bytes = Buffer.from(text);
      state.reply = { ...rest, headers, stream: bytes };
      const caller = callerKey(state) ?? '';
      if (mayRefuse(route) && room.isFull(caller, bytes.length)) throw refusal();
      state.life.onEnd(room.add(caller, bytes.length));
    };
}

const mayRefuse = ({ method, readOnly }: Route) => method === 'GET' || readOnly === true;

const refusal = () =>
  new Problem('unavailable', { headers: { 'retry-after': String(limits.shareRetryAfterSeconds) } });
