/** What a session takes over from a session template: node by node, and what refuses it. */
import { quote } from '../issue.ts';
import { isSameJson } from '../same-json.ts';
import type { JsonObject } from '../text.ts';
import { configurationOf } from './node-configuration.ts';

/** A node of a template, or of a session. */
export interface AdoptableNode {
  readonly name: string;
  readonly nodeTemplate: string;
  /** Names. */
  readonly parents: readonly string[];
  readonly configuration: JsonObject;
}

export interface SessionNode extends AdoptableNode {
  /** It has a run, an output, or an upload under way. */
  readonly hasRun: boolean;
  /** People gave it another configuration than its template did. */
  readonly isEdited: boolean;
}

/** `before` and `after` are configurations, or names of parents; null where there is no such node. */
export type TemplateChange = { readonly node: string } & (
  | {
      readonly kind: 'configuration';
      readonly before: JsonObject;
      readonly after: JsonObject;
      /** What people changed in the session goes. */
      readonly edited?: true;
    }
  | { readonly kind: 'added'; readonly before: null; readonly after: JsonObject }
  | { readonly kind: 'removed'; readonly before: JsonObject; readonly after: null }
  | { readonly kind: 're-parented'; readonly before: readonly string[]; readonly after: readonly string[] }
);
export const templateChangeKinds = ['configuration', 'added', 'removed', 're-parented'] as const;

/** A change that cannot be made; `node` is null where the session itself refuses. */
export interface AdoptionRefusal {
  readonly node: string | null;
  readonly message: string;
}

export interface Adoption {
  /** In the order of the template; what is removed comes first. A node of another node template is removed and added. */
  readonly changes: readonly TemplateChange[];
  readonly refusals: readonly AdoptionRefusal[];
}

/** What changes when a session with these nodes adopts a template with those. */
export function adoptionOf(session: readonly SessionNode[], template: readonly AdoptableNode[]): Adoption {
  const present = new Map(session.map((node) => [node.name, node]));
  const wanted = new Map(template.map((node) => [node.name, node]));
  const isReplaced = ({ name, nodeTemplate }: AdoptableNode) =>
    wanted.get(name)?.nodeTemplate !== nodeTemplate;
  const removed = session.filter(isReplaced);
  const refusals = removed.filter(({ hasRun }) => hasRun).map(({ name }) => removalRefused(name, wanted));
  const changes: TemplateChange[] = removed.map(({ name, configuration }) => ({
    node: name,
    kind: 'removed',
    before: configuration,
    after: null,
  }));
  for (const node of template) {
    const old = present.get(node.name);
    if (old === undefined || isReplaced(old)) {
      changes.push({ node: node.name, kind: 'added', before: null, after: node.configuration });
      continue;
    }
    if (!isSameSet(old.parents, node.parents)) {
      changes.push({ node: node.name, kind: 're-parented', before: old.parents, after: node.parents });
      if (old.hasRun) refusals.push(refusal(node.name, 'has run and cannot get other parents'));
    }
    if (!isSameJson(old.configuration, node.configuration)) {
      changes.push({
        node: node.name,
        kind: 'configuration',
        before: old.configuration,
        after: node.configuration,
        ...(old.isEdited ? { edited: true } : {}),
      });
    }
  }
  return { changes, refusals };
}

function removalRefused(name: string, wanted: ReadonlyMap<string, AdoptableNode>): AdoptionRefusal {
  return refusal(
    name,
    wanted.has(name) ? 'has run and cannot get another node template' : 'has run and cannot be removed',
  );
}

function refusal(node: string, why: string): AdoptionRefusal {
  return { node, message: `The node ${quote(node)} ${why}.` };
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [new Set(left), new Set(right)];
  return a.size === b.size && a.isSubsetOf(b);
}

/**
 * Whether a template says something else by now than when a session took it. A configuration that a person changed is
 * no difference.
 * @param taken by name of the node: what the template said then, as JSON text
 */
export function isTemplateChanged(
  taken: ReadonlyMap<string, string>,
  template: readonly { readonly name: string; readonly defaultConfiguration: string }[],
): boolean {
  return template.some(({ name, defaultConfiguration }) => {
    const before = taken.get(name);
    if (before === undefined) return true;
    return (
      before !== defaultConfiguration &&
      !isSameJson(configurationOf(before), configurationOf(defaultConfiguration))
    );
  });
}
