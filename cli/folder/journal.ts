/** What a watched folder has sent, in a file of the folder: one line for each acknowledged file, on disk before the next one. */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const journalName = '.sdp-sent.jsonl';

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

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(folder: string): Promise<Journal> {
    const journal = new Journal(join(folder, journalName));
    const text = await readFile(journal.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    for (const line of text.split('\n')) journal.#read(line);
    return journal;
  }

  /** What was sent of these bytes of the file; a file that changed since is another one. */
  find({ file, sizeBytes, modifiedAtMs }: Omit<SentFile, 'identifier' | 'outputId'>): SentFile | undefined {
    const known = this.#sent.get(file);
    return known?.sizeBytes === sizeBytes && known.modifiedAtMs === modifiedAtMs ? known : undefined;
  }

  /** Resolves when the line is on disk. */
  async add(sent: SentFile): Promise<void> {
    const file = await open(this.#path, 'a', 0o600);
    try {
      // After a loss of power the last line may be half a one.
      await file.write(`\n${JSON.stringify(sent)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    this.#sent.set(sent.file, sent);
  }

  #read(line: string): void {
    try {
      const sent = JSON.parse(line) as SentFile;
      this.#sent.set(sent.file, sent);
    } catch {
      // An empty line, or one whose writing was interrupted: its file is sent again, and is there already.
    }
  }
}
