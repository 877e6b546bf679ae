/** Faults of the connections between callers, processes and servers. */
import type { Gate, GateMode } from '../../support/network/gate.ts';
import { type Fault, type FaultContext, type FaultKind, inTurn } from './fault.ts';

export const lines = ['database', 'objectStore', 'temporal', 'API'] as const;
export type Line = (typeof lines)[number];

/** The gate of a line; of the API that of one process. */
export async function gateOf({ platform, random }: FaultContext, line: Line): Promise<Gate> {
  return line === 'API' ? await random.oneOf(platform.of('API')).gate() : platform.gates[line];
}

/** Felt when the fault has met a transfer. */
export function throughGate(gate: Gate, mode: GateMode): Fault {
  const before = gate.treated;
  gate.set(mode);
  return { heal: () => gate.set({ kind: 'pass' }), isFelt: () => gate.treated > before };
}

/** On one line at a time. */
async function onLine(context: FaultContext, mode: GateMode, among: readonly Line[] = lines): Promise<Fault> {
  const gate = await gateOf(context, inTurn(among, context));
  return throughGate(gate, mode);
}

export const answerLost: FaultKind = {
  number: 7,
  name: 'answers lost: the request is executed',
  inject: (context) => onLine(context, { kind: 'drop-answers' }),
};

export const reset: FaultKind = {
  number: 8,
  name: 'reset in the middle of an answer',
  inject: (context) => onLine(context, { kind: 'reset', afterBytes: context.random.oneOf([0, 1, 9, 100]) }),
};

export const slow: FaultKind = {
  number: 9,
  name: 'latency of 800 ± 400 ms, 64 KB/s',
  async inject(context) {
    const latencyMs: readonly [number, number] = context.size === 'small' ? [40, 120] : [400, 1_200];
    const mode: GateMode = { kind: 'slow', latencyMs, bytesPerSecond: 64 * 1_024 };
    return onLine(context, mode);
  },
};

/** Inside status line and headers, at their end, inside small bodies, at sizes of buffers, near the end of large bodies. */
const edges = [0, 1, 8, 17, 100, 180, 250, 300, 400, 600, 1_000, 4_096, 16_384, 65_535, 65_536, 199_000];

export const cutAfter: FaultKind = {
  number: 10,
  name: 'connection cut after N bytes',
  inject(context) {
    const { random } = context;
    const direction = random.oneOf(['requests', 'answers'] as const);
    const afterBytes = random.oneOf(edges) + random.whole(0, 8);
    return onLine(context, { kind: 'cut', direction, afterBytes });
  },
};

export const sliced: FaultKind = {
  number: 11,
  name: 'segments of one byte',
  // Each segment costs a wake-up of the other side: a small campaign sends only the beginning so.
  inject: (context) => onLine(context, { kind: 'slice', bytes: context.size === 'small' ? 12 : 256 }),
};
