/** What a benchmark of engines with outside workers asks of each of them. */
export interface PeerTask {
  readonly id: string;
  /** What else the engine wants to hear at its completion. */
  readonly of: string;
}

export interface Peer {
  readonly name: string;
  /** How the engine is run: version, storage, protocol. */
  readonly settings: string;
  /** Declares a graph of `width` chains of `length` tasks; each call of the result starts one. */
  graph(width: number, length: number): Promise<() => Promise<unknown>>;
  claim(worker: string, waitSeconds: number): Promise<PeerTask | undefined>;
  /** @param output of the task; null: none */
  complete(worker: string, task: PeerTask, output: string | null): Promise<unknown>;
  /** The engine's processes with their databases and stores, without the workers. */
  pids(): readonly number[];
  stop(): Promise<void>;
}
