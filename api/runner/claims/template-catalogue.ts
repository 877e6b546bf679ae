/** The node templates that runners may claim for, cached for a second: they change when a manifest is published. */

import type { Database } from '../../../store/connection/database.ts';
import { listRunnerTemplates, type RunnerTemplate } from '../../../store/registry/claimable-templates.ts';

const rememberedMs = 1_000;

/** The node templates at one moment. */
export interface TemplateSnapshot {
  readonly loadedAtMs: number;
  readonly byName: ReadonlyMap<string, RunnerTemplate>;
  /** Names of those that an account may claim: runtime `external`, and not `Input`, which never gets tasks. */
  readonly external: readonly string[];
  /** Whether a template is under a limit of tasks that are held at once. */
  readonly isLimited: (template: string) => boolean;
}

/** The templates that a claim covers. `names` may grow while the claim waits. */
export interface Coverage {
  readonly names: () => readonly string[];
  readonly covers: (template: string) => boolean;
  /** All that the caller may claim, also templates registered later. */
  readonly coversAll: boolean;
}

export class TemplateCatalogue {
  readonly #database: Database;
  #snapshot: TemplateSnapshot = snapshotOf(Number.NEGATIVE_INFINITY, []);
  #loading: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  get current(): TemplateSnapshot {
    return this.#snapshot;
  }

  /** The templates as they were at most `maxAgeMs` ago. Simultaneous calls share a read. */
  async load(maxAgeMs = rememberedMs): Promise<TemplateSnapshot> {
    const oldestMs = performance.now() - maxAgeMs;
    // A read in progress may have begun too early; then another follows.
    while (this.#snapshot.loadedAtMs < oldestMs) {
      this.#loading ??= this.#read().finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
    }
    return this.#snapshot;
  }

  /** Every template of an outside runner type, as registered at the time of asking. */
  get allExternal(): Coverage {
    return {
      names: () => this.#snapshot.external,
      covers: (template) => isExternal(this.#snapshot.byName.get(template)),
      coversAll: true,
    };
  }

  /** The templates that a token of these runner types may claim. No token covers the platform's own. */
  claimableOf(runnerTypes: readonly string[]): readonly RunnerTemplate[] {
    const own = new Set(runnerTypes);
    return [...this.#snapshot.byName.values()].filter(
      (template) => own.has(template.runnerType) && isClaimable(template),
    );
  }

  /** Every template of these runner types, as registered at the time of asking. */
  allOfTypes(runnerTypes: readonly string[]): Coverage {
    const own = new Set(runnerTypes);
    let known: { readonly snapshot: TemplateSnapshot; readonly names: readonly string[] } | undefined;
    return {
      names: () => {
        if (known?.snapshot !== this.#snapshot) {
          const names = this.claimableOf(runnerTypes).map((template) => template.name);
          known = { snapshot: this.#snapshot, names };
        }
        return known.names;
      },
      covers: (name) => {
        const template = this.#snapshot.byName.get(name);
        return template !== undefined && own.has(template.runnerType) && isClaimable(template);
      },
      coversAll: true,
    };
  }

  async #read(): Promise<void> {
    const loadedAtMs = performance.now();
    this.#snapshot = snapshotOf(loadedAtMs, await listRunnerTemplates(this.#database));
  }
}

function snapshotOf(loadedAtMs: number, templates: readonly RunnerTemplate[]): TemplateSnapshot {
  const byName = new Map(templates.map((template) => [template.name, template]));
  const external = templates.filter(isExternal).map((template) => template.name);
  return { loadedAtMs, byName, external, isLimited: (name) => byName.get(name)?.isLimited === true };
}

function isExternal(template: RunnerTemplate | undefined): boolean {
  return template !== undefined && template.runtime === 'external' && template.type !== 'Input';
}

function isClaimable(template: RunnerTemplate): boolean {
  return template.runtime !== 'system' && template.type !== 'Input';
}

/** Exactly these templates. */
export function coverageOf(names: readonly string[]): Coverage {
  const set = new Set(names);
  const list = [...set];
  return { names: () => list, covers: (template) => set.has(template), coversAll: false };
}
