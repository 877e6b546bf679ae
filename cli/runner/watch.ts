/** Changes of the author's files, found by polling: it works on every file system, and costs little for a few files. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 300;
const maxFiles = 2_000;
const watchedEnding = /\.(py|ts|mts|cts|js|mjs|cjs|json|toml)$/;
/** Environments, packages and caches, beside all folders whose name begins with a dot. */
const leftOut = new Set(['node_modules', '__pycache__', 'venv', 'env', 'dist', 'build', 'cases']);

export class Watch {
  readonly #folder: string;
  #known: ReadonlyMap<string, string>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#known = stampsIn(folder);
  }

  /** Resolves with the names of the files that have changed, when they have stopped to; rejects when aborted. */
  async changed(signal: AbortSignal): Promise<readonly string[]> {
    for (;;) {
      await delay(pollMs, undefined, { signal });
      const before = this.#known;
      let now = stampsIn(this.#folder);
      if (differing(before, now).length === 0) continue;
      for (let last = before; differing(last, now).length > 0; ) {
        last = now;
        await delay(pollMs, undefined, { signal });
        now = stampsIn(this.#folder);
      }
      this.#known = now;
      return differing(before, now);
    }
  }
}

function differing(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name));
}

function stampsIn(folder: string): Map<string, string> {
  const stamps = new Map<string, string>();
  const read = (below: string) => {
    for (const entry of entriesOf(join(folder, below))) {
      if (entry.name.startsWith('.') || leftOut.has(entry.name) || stamps.size >= maxFiles) continue;
      const name = join(below, entry.name);
      if (entry.isDirectory()) read(name);
      else if (watchedEnding.test(entry.name)) {
        const stat = statSync(join(folder, name), { throwIfNoEntry: false });
        if (stat !== undefined) stamps.set(name, `${stat.mtimeMs} ${stat.size}`);
      }
    }
  };
  read('');
  return stamps;
}

/** The entries of a folder; none when it is gone, or when its author may not read it, such as the data of a container. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
