/** `sdp sessions watch`: the live events of a session, line by line. */
import type { EventsSettings } from '../../client/event-stream.ts';
import { type SessionEvent, sessionEvents } from '../../client/session-events.ts';
import { type AddCommand, type Cli, examples, uuid } from '../cli.ts';
import { exitCodes } from '../errors.ts';
import { follow } from '../follow.ts';
import { bytes, singleLine } from '../output.ts';

export const addWatch: AddCommand = (sessions, cli) => {
  sessions
    .command('watch')
    .description('Follows the events of a session; reconnects without losing events.')
    .argument('<sessionId>', 'the session', uuid)
    .option('--until-done', 'end when all nodes have succeeded (exit code 0) or one has failed (1)')
    .addHelpText(
      'after',
      `${examples(
        'sessions watch 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10',
        'sessions watch 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --until-done --json',
      )}\n\nWith --json each event is one line: {"event": kind, "data": ...}.`,
    )
    .action(async (sessionId: string, { untilDone }: { untilDone?: boolean }) => {
      const platform = await cli.connect();
      const watched = new Watched(cli);
      const connect = (settings: EventsSettings) => sessionEvents(platform, sessionId, settings);
      for await (const event of follow<SessionEvent>(connect, 'deleted')) {
        watched.read(event);
        if (event.kind === 'deleted' && untilDone === true) process.exitCode = exitCodes.failed;
        if (untilDone !== true || watched.outcome === undefined) continue;
        process.exitCode = watched.outcome === 'succeeded' ? exitCodes.ok : exitCodes.failed;
        break;
      }
    });
};

/** The known state of the session; reports what is new in each event. */
class Watched {
  readonly #cli: Cli;
  readonly #nodes = new Map<number, { readonly name: string; readonly state: string }>();
  /** The last report on each node, output and attempt: after a lost connection events may come again. */
  readonly #reported = new Map<string, string>();
  #isComplete = false;

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  /** Undefined before all nodes are known, and while they are running. */
  get outcome(): 'succeeded' | 'failed' | undefined {
    const states = [...this.#nodes.values()].map(({ state }) => state);
    if (!this.#isComplete || states.length === 0) return undefined;
    if (states.includes('Failed')) return 'failed';
    return states.every((state) => state === 'Succeeded') ? 'succeeded' : undefined;
  }

  read(event: SessionEvent): void {
    // Nodes come first, all of them, and the window after them.
    if (event.kind === 'window') this.#isComplete = true;
    if (event.kind === 'node') this.#nodes.set(event.data.id, event.data);
    const [key, line] = this.#describe(event);
    const text = this.#cli.isJson ? JSON.stringify({ event: event.kind, data: event.data }) : line;
    if (this.#reported.get(key) === text) return;
    if (this.#reported.size > 10_000) this.#reported.clear();
    this.#reported.set(key, text);
    console.log(this.#cli.isJson ? text : `${new Date().toISOString().slice(11, 19)}Z  ${singleLine(text)}`);
  }

  /** The subject of the event, and the line to print. */
  #describe({ kind, data }: SessionEvent): [string, string] {
    if (kind === 'node') {
      const details = data.statusDetails ? ` (${data.statusDetails})` : '';
      return [`node ${data.id}`, `${data.name}: ${data.state}${details}`];
    }
    if (kind === 'output') {
      const place = `${this.#nameOf(data.nodeInstanceId)}: output ${data.id}`;
      return [
        `output ${data.id} ${data.createdAt}`,
        `${place} ${data.outputIdentifier}, ${bytes(data.sizeBytes)}`,
      ];
    }
    if (kind === 'attempt') {
      const how = data.endedAt === null ? 'started' : `ended: ${data.outcome}`;
      const attempt = `attempt ${data.attempt} of ${data.maxAttempts} ${how}`;
      return [`attempt ${data.runId} ${data.attempt}`, `${this.#nameOf(data.nodeInstanceId)}: ${attempt}`];
    }
    if (kind === 'window') {
      const frozen = data.frozen ? ', frozen' : '';
      return ['window', `session: ${data.status}${frozen}, participants: ${data.participantCount}`];
    }
    return [kind, `session: ${kind}`];
  }

  #nameOf(node: number): string {
    return this.#nodes.get(node)?.name ?? `node ${node}`;
  }
}
