/**
 * Names of the author's own: what `sdp runner dev` registers has a suffix with the author's name. So two authors of one
 * runner do not get each other's tasks, and the published runner stays as it is.
 */
import { createHash } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

const nameCharacters = 20;

/** `-petra`. A username that is no such name gets a few digits, which make it unique. */
export function suffixOf(username: string): string {
  const name = username.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const cut = name.slice(0, nameCharacters).replaceAll(/^-+|-+$/g, '');
  if (cut === username) return `-${cut}`;
  const digits = createHash('sha256').update(username).digest('hex').slice(0, 4);
  return cut === '' ? `-${digits}` : `-${cut}-${digits}`;
}

/**
 * The manifest under the author's names. What is wrong stays as it is: the platform reports it with its path. The author
 * runs the program, also where the platform will do so later.
 */
export function ownManifest(manifest: unknown, suffix: string): unknown {
  if (!isObject(manifest)) return manifest;
  const { feature, runnerTypes, nodeTemplates } = manifest;
  return {
    ...manifest,
    ...(isObject(feature) && { feature: ownFeature(feature, suffix) }),
    ...(Array.isArray(runnerTypes) && {
      runnerTypes: runnerTypes.map((item) => external(renamed(item, ['name'], suffix))),
    }),
    ...(Array.isArray(nodeTemplates) && {
      nodeTemplates: nodeTemplates.map((item) => renamed(item, ['name', 'runnerType'], suffix)),
    }),
  };
}

/** The same version every time: what is under development has none, and the author may go back in the manifest. */
function ownFeature(feature: Json, suffix: string): Json {
  const { version } = feature;
  const isVersion = typeof version === 'string' && /^\d+\.\d+\.\d+/.test(version);
  return renamed({ ...feature, ...(isVersion && { version: '0.0.0' }) }, ['name'], suffix) as Json;
}

function external(runnerType: unknown): unknown {
  if (!isObject(runnerType) || runnerType.runtime !== 'sdk') return runnerType;
  const { entrypoint: _, ...others } = runnerType;
  return { ...others, runtime: 'external' };
}

/** The session template under the author's name, with nodes of the author's node templates. */
export function ownSessionTemplate(template: unknown, manifest: unknown, suffix: string): unknown {
  if (!isObject(template)) return template;
  const own = new Set(namesOf(manifest, 'nodeTemplates'));
  const { Nodes } = template;
  const nodes = Array.isArray(Nodes)
    ? Nodes.map((node) =>
        isObject(node) && own.has(String(node.NodeTemplateName))
          ? renamed(node, ['NodeTemplateName'], suffix)
          : node,
      )
    : Nodes;
  return renamed({ ...template, Nodes: nodes, updateIfExists: true }, ['Name'], suffix);
}

/** A graph cannot change under its name: a changed one gets another. */
export function nameOfChanged(template: unknown): unknown {
  if (!isObject(template)) return template;
  const graph = createHash('sha256').update(JSON.stringify(template.Nodes)).digest('hex').slice(0, 6);
  return { ...template, Name: `${template.Name}-${graph}` };
}

/** Names of the listed items, as far as they have one. */
export function namesOf(manifest: unknown, key: 'runnerTypes' | 'nodeTemplates'): string[] {
  const listed = isObject(manifest) ? manifest[key] : undefined;
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((item: unknown) =>
    isObject(item) && typeof item.name === 'string' ? [item.name] : [],
  );
}

function renamed(item: unknown, keys: readonly string[], suffix: string): unknown {
  if (!isObject(item)) return item;
  const names = keys.filter((key) => typeof item[key] === 'string').map((key) => [key, item[key] + suffix]);
  return { ...item, ...Object.fromEntries(names) };
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
