/** What a watched folder has sent, in a file of the folder: one line for each acknowledged file, on disk before the next one. */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

const journalName = '.sdp-sent.jsonl';
/** Times are written as milliseconds, whose last digits depend on the program that wrote them. */
const sameMs = 1;

/** A file as it was when it was sent. */
export interface SentFile {
  readonly file: string;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  readonly identifier: string;
  /** Null where it waits in the queue of its project. */
  readonly outputId: number | null;
}

export class Journal {
  readonly #path: string;
  readonly #sent = new Map<string, SentFile>();
  #readBytes = 0;

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(folder: string): Promise<Journal> {
    const journal = new Journal(join(folder, journalName));
    await journal.read();
    return journal;
  }

  /** Reads what was added since, also by another agent of this folder. */
  async read(): Promise<void> {
    const file = await open(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    try {
      const added = file === undefined ? '' : await this.#added(file);
      for (const line of added.split('\n')) this.#note(line);
    } finally {
      await file?.close();
    }
  }

  /** Complete lines. */
  async #added(file: FileHandle): Promise<string> {
    const { size } = await file.stat();
    const from = size < this.#readBytes ? 0 : this.#readBytes;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1);
    this.#readBytes = from + lines.length;
    return lines.toString('utf8');
  }

  /** What was sent of these bytes of the file; a file that changed since is another one. */
  find({ file, sizeBytes, modifiedAtMs }: Omit<SentFile, 'identifier' | 'outputId'>): SentFile | undefined {
    const known = this.#sent.get(file);
    if (known?.sizeBytes !== sizeBytes) return undefined;
    return Math.abs(known.modifiedAtMs - modifiedAtMs) < sameMs ? known : undefined;
  }

  /**
   * Resolves when the line is on disk.
   * @throws an error when it cannot be written: then only this process knows it
   */
  async add(sent: SentFile): Promise<void> {
    this.#sent.set(sent.file, sent);
    const file = await open(this.#path, 'a', 0o600);
    try {
      // After a loss of power the last line may be half a one.
      await file.write(`\n${JSON.stringify(sent)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #note(line: string): void {
    try {
      const sent = JSON.parse(line) as SentFile;
      this.#sent.set(sent.file, sent);
    } catch {
      // An empty line, or one whose writing was interrupted: its file is sent again, and is there already.
    }
  }
}
