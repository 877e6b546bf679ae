/** What a watched folder has sent, in a file of the folder: one line for each acknowledged file, on disk before the next one. */
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';

const journalName = '.sdp-sent.jsonl';
/** Times are written as milliseconds, whose last digits depend on the program that wrote them. */
const sameMs = 1;
/** Rows that are kept of files which have left the folder, beside twice as many as there are files. */
const maxGone = 10_000;
/** Much longer than a row. */
const pieceBytes = 4 * 1024 * 1024;

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
  #sent = new Map<string, SentFile>();
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
    if (file === undefined) return;
    try {
      for (let lines = await this.#added(file); lines !== ''; lines = await this.#added(file))
        for (const line of lines.split('\n')) this.#note(line);
    } finally {
      await file.close();
    }
  }

  /** The next complete lines; empty at the end. */
  async #added(file: FileHandle): Promise<string> {
    const { size } = await file.stat();
    const from = size < this.#readBytes ? 0 : this.#readBytes;
    const length = Math.min(size - from, pieceBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
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

  /**
   * Forgets files that have left the folder, once they are many: a machine may write one each second for years. A row
   * that another agent adds at this moment may be lost; its file is sent once more, and is there already.
   */
  async forgetGone(files: readonly { readonly file: string }[]): Promise<void> {
    if (this.#sent.size <= maxGone + 2 * files.length) return;
    await this.read();
    const kept = files.flatMap(({ file }) => this.#sent.get(file) ?? []);
    const text = kept.map((sent) => `${JSON.stringify(sent)}\n`).join('');
    const partial = await open(`${this.#path}.partial`, 'w', 0o600);
    try {
      await partial.writeFile(text);
      await partial.sync();
    } finally {
      await partial.close();
    }
    await rename(`${this.#path}.partial`, this.#path);
    this.#sent = new Map(kept.map((sent) => [sent.file, sent]));
    this.#readBytes = Buffer.byteLength(text);
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
