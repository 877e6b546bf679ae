/**
 * Whether a lock with expiry can have given the answers that runners got for one run: a search for an order of the calls,
 * each at some moment between its sending and its answer, in which every answer is right (Wing and Gong, with memory of
 * what was tried). A call without an answer took effect at any later moment, or never.
 */
import { initial, type Lock, type LockCall, type LockRules, step } from './lock.ts';

/** States that are tried at the most; histories of real runs need some thousands. */
const maxTried = 400_000;

export type Verdict =
  | { readonly fits: true }
  /** The calls of the longest order found that fits, and those that find no place after it. */
  | { readonly fits: false; readonly ordered: readonly LockCall[]; readonly left: readonly LockCall[] };

interface Search {
  readonly lock: Lock;
  readonly order: readonly number[];
  readonly placed: bigint;
}

/** @param history all calls about one run, in any order */
export function judge(history: readonly LockCall[], rules: LockRules): Verdict {
  const calls = history.toSorted((a, b) => a.sentAt - b.sentAt);
  const tasks = calls.filter((call) => call.kind === 'claim').map(({ taskId }) => taskId);
  if (new Set(tasks).size < tasks.length) return { fits: false, ordered: [], left: calls };
  const tried = new Set<string>();
  const open: Search[] = [{ lock: initial, order: [], placed: 0n }];
  let longest: readonly number[] = [];
  for (let at = open.pop(); at !== undefined && tried.size < maxTried; at = open.pop()) {
    const { placed } = at;
    if (at.order.length > longest.length) longest = at.order;
    const left = calls.map((_, index) => index).filter((index) => !(placed & (1n << BigInt(index))));
    if (left.every((index) => calls[index]!.answeredAt === Infinity)) return { fits: true };
    for (const next of placesNext(at, calls, left, rules)) {
      const key = `${next.placed.toString(36)} ${JSON.stringify(next.lock)}`;
      if (tried.has(key)) continue;
      tried.add(key);
      open.push(next);
    }
  }
  return {
    fits: false,
    ordered: longest.map((index) => calls[index]!),
    left: calls.filter((_, index) => !longest.includes(index)),
  };
}

/** Every way to place one more call; the earliest sent comes last, to be tried first. */
function placesNext(
  at: Search,
  calls: readonly LockCall[],
  left: readonly number[],
  rules: LockRules,
): Search[] {
  const horizon = Math.min(...left.map((index) => calls[index]!.answeredAt));
  const found: Search[] = [];
  const alike = new Set<string>();
  for (const index of left) {
    const call = calls[index]!;
    if (call.sentAt > horizon) break;
    // The earliest of these can do all that a later one can; without this rule all subsets of many would be tried.
    const group = groupOfUnanswered(call);
    if (group !== undefined && alike.has(group)) continue;
    if (group !== undefined) alike.add(group);
    const placed = at.placed | (1n << BigInt(index));
    const next = step(at.lock, call, rules)
      // A call that may never have happened need not be placed where it changes nothing.
      .filter((lock) => call.answeredAt !== Infinity || !isSame({ ...lock, now: at.lock.now }, at.lock))
      .map((lock) => ({ lock, order: [...at.order, index], placed }));
    // A call that fits and changes nothing, now or later, is placed at once: no other order reaches more states.
    if (
      next.length === 1 &&
      isSame(next[0]!.lock, at.lock) &&
      !left.some((other) => mayEnd(call, calls[other]!))
    )
      return next;
    found.push(...next);
  }
  return found.reverse();
}

/** A claim that was sent twice at once may get the run with one call, and end that with the other. */
function mayEnd(call: LockCall, other: LockCall): boolean {
  const areClaims = call.kind === 'claim-elsewhere' && other.kind === 'claim';
  return areClaims && other.instance === call.instance && other.sentAt <= call.answeredAt;
}

/** Calls without an answer that differ in nothing but the time of their sending. */
function groupOfUnanswered(call: LockCall): string | undefined {
  if (call.answeredAt !== Infinity) return undefined;
  if (call.kind === 'claim-elsewhere') return `${call.kind} ${call.instance}`;
  return call.kind === 'heartbeat' || call.kind === 'delivered'
    ? `${call.kind} ${call.instance} ${call.taskId}`
    : undefined;
}

function isSame(a: Lock, b: Lock): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
