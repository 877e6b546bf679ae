/** The runner types of a manifest: where their programs run, and where those lie that the platform starts (decisions 10). */
import { type IssueList, jsonPath } from '../issue.ts';
import { isJsonObject } from '../text.ts';
import type { Concurrency } from './concurrency.ts';
import { Fields, isEntrypointName, warnOfUnknown } from './manifest-fields.ts';

/** Who runs the processes: `sdk` the platform's host of deployed runners, `external` the owner of the runner type. */
export const manifestRuntimes = ['sdk', 'external'] as const;
/** The runtimes of all runner types; `system` is that of the platform's workers. */
export const runtimes = ['system', ...manifestRuntimes] as const;
export type Runtime = (typeof runtimes)[number];

/** The runner type of built-in nodes, which no token may hold or claim. */
export const systemRunnerType = 'system';

export type ManifestRuntime = (typeof manifestRuntimes)[number];

export interface ManifestRunnerType {
  readonly name: string;
  readonly runtime: ManifestRuntime;
  readonly entrypoint: string | null;
  readonly description: string;
  readonly concurrency?: Concurrency;
}

/** Where an entrypoint leads: to a file of the operator's folder, to none that is there, or out of the folder. */
export type EntrypointPlace = 'there' | 'missing' | 'outside';
/** The places of a manifest's entrypoints by name; null while the platform's runner host is off. */
export type EntrypointPlaces = ReadonlyMap<string, EntrypointPlace> | null;

/** Runner types of one manifest. */
export const maxRunnerTypes = 100;

/** Entrypoints of deployed runners, as far as they can be read: for looking them up before the check. At most 100. */
export function entrypointsOf(manifest: unknown): string[] {
  const listed = isJsonObject(manifest) && Array.isArray(manifest.runnerTypes) ? manifest.runnerTypes : [];
  const names = listed.slice(0, maxRunnerTypes).flatMap((item: unknown) => {
    const { runtime, entrypoint } = isJsonObject(item) ? item : {};
    return runtime === 'sdk' && typeof entrypoint === 'string' ? [entrypoint] : [];
  });
  return [...new Set(names.filter(isEntrypointName))];
}

/** @param steps to the item, from the manifest */
export function readRunnerType(
  item: unknown,
  steps: readonly (string | number)[],
  errors: IssueList,
  warnings: IssueList,
  entrypoints: EntrypointPlaces,
): ManifestRunnerType {
  const fields = new Fields(item, steps, errors);
  warnOfUnknown(item, steps, ['name', 'runtime', 'entrypoint', 'description', 'concurrency'], warnings);
  const name = fields.name('name');
  const runtime = fields.oneOf('runtime', manifestRuntimes);
  const given = fields.raw('entrypoint');
  const entrypoint = typeof given === 'string' && isEntrypointName(given) ? given : null;
  if (given !== undefined && entrypoint === null) {
    fields.fault(
      'entrypoint',
      'entrypoint must be a file name of letters, digits, dots, underscores and hyphens.',
    );
  }
  if (isJsonObject(item) && item.runtime === 'sdk') {
    const warn = (key: readonly string[], message: string) =>
      warnings.add(jsonPath(...steps, ...key), message);
    if (given === undefined)
      warn([], 'The platform does not start this runner, because it has no entrypoint.');
    if (entrypoints === null) {
      const message = 'The runner host of this platform is off; the runner is registered but not started.';
      warn(['runtime'], message);
    } else if (entrypoint !== null) {
      const place = entrypoints.get(entrypoint) ?? 'missing';
      if (place === 'outside') {
        fields.fault('entrypoint', 'entrypoint is outside the folder of deployed runners.');
      } else if (place === 'missing') {
        const message =
          'The folder of deployed runners has no such file; the runner starts when the file exists.';
        warn(['entrypoint'], message);
      }
    }
  }
  const concurrency = fields.concurrency(warnings);
  return {
    name,
    runtime,
    entrypoint,
    description: fields.description(),
    ...(concurrency && { concurrency }),
  };
}
