/**
 * Room for long JSON replies: each is held in memory until its caller has read it, which a slow one puts off for minutes.
 * Of one that is made as it is read, a piece is held. Short ones need no room, since connections are bounded; files that are
 * streamed are never held.
 */
import { Readable } from 'node:stream';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { RouteMiddleware } from '../call.ts';
import type { Route } from '../route.ts';
import type { CallerKey } from './json-body.ts';
import { pieceCharacters, wholeOf } from './json-items.ts';

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

/** What a piece is made of is held beside it: rows of the database, and objects. */
const bytesPerCharacter = 4;

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
      if (reply === null || (reply.body === undefined && reply.pieces === undefined)) return;
      const { body, pieces, ...rest } = reply;
      const caller = callerKey(state) ?? '';
      const held: Held = {
        begin(bytes) {
          if (mayRefuse(route) && room.isFull(caller, bytes)) throw refusal();
          held.grow(bytes);
        },
        grow: (bytes) => state.life.onEnd(room.add(caller, bytes)),
      };
      const headers = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
      const stream = pieces === undefined ? textOf(JSON.stringify(body), held) : await streamOf(pieces, held);
      state.reply = { ...rest, headers, stream };
    };
}

/** What a reply holds. */
interface Held {
  /** Throws where there is no room. */
  begin(bytes: number): void;
  grow(bytes: number): void;
}

function textOf(text: string, held: Held): string | Buffer {
  if (text.length <= limits.jsonBodySmallBytes) return text;
  const bytes = Buffer.from(text);
  held.begin(bytes.length);
  return bytes;
}

/** The first piece is made before the head is sent: its failure still has a status, and a short reply is known to be whole. */
async function streamOf(
  pieces: AsyncGenerator<string, string, undefined>,
  held: Held,
): Promise<string | Buffer | Readable> {
  const first = await pieces.next();
  if (first.done === true) return textOf(first.value, held);
  let longest = first.value.length;
  held.begin(longest * bytesPerCharacter);
  const grow = (characters: number) => {
    if (characters <= longest) return;
    held.grow((characters - longest) * bytesPerCharacter);
    longest = characters;
  };
  return Readable.from(wholeOf(first, pieces, grow), { objectMode: false, highWaterMark: pieceCharacters });
}

const mayRefuse = ({ method, readOnly }: Route) => method === 'GET' || readOnly === true;

const refusal = () =>
  new Problem('unavailable', { headers: { 'retry-after': String(limits.shareRetryAfterSeconds) } });
