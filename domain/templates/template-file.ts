/**
 * The template definition file (contract: Template definition file; decisions 4): what is checked before a session
 * template is stored. Every fault is listed with its JSON path, in the spelling that the file uses.
 */

import { type Issue, IssueList, jsonPath, quote } from '../issue.ts';
import { limits } from '../limits.ts';
import { quoteRunnerName } from '../runner-name.ts';
import { isJsonObject, isName, isStorableText, type JsonObject, withinCharacters } from '../text.ts';
import { type ConfigurationValidator, configurationValidators } from './configuration-schema.ts';
import { isSameGraph, orderGraph } from './graph.ts';
import { field, freeJson, requiredName, type Steps } from './template-fields.ts';

export const nodeTemplateTypes = ['Input', 'Transform', 'Processing', 'Aggregation'] as const;
export type NodeTemplateType = (typeof nodeTemplateTypes)[number];

/** What the platform has registered under a node template's name. */
export interface KnownNodeTemplate {
  readonly type: NodeTemplateType;
  readonly configurationSchema: unknown;
  /** Retired node templates may not be used by new templates. */
  readonly retired: boolean;
}

export interface TemplateNode {
  readonly name: string;
  readonly nodeTemplateName: string;
  readonly defaultConfiguration: JsonObject;
  /** Names of parent nodes, each once. */
  readonly parents: readonly string[];
}

export interface TemplateFile {
  readonly name: string;
  readonly templateVersion: string;
  readonly description: string;
  readonly configuration: JsonObject;
  readonly nodes: readonly TemplateNode[];
  readonly updateIfExists: boolean;
}

export type TemplateCheck =
  | { readonly ok: true; readonly template: TemplateFile }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The trimmed name that a file gives itself, or null: for looking up what is stored before the whole is checked. */
export function templateNameOf(file: unknown): string | null {
  if (!isJsonObject(file)) return null;
  const { value } = field(file, 'Name');
  return typeof value === 'string' && isName(value) ? value.trim() : null;
}

/** Names of all node templates that a file uses, as far as they can be read: for loading them before the check. */
export function nodeTemplateNamesOf(file: unknown): string[] {
  const nodes = isJsonObject(file) ? field(file, 'Nodes').value : undefined;
  if (!Array.isArray(nodes)) return [];
  const names = nodes
    .slice(0, limits.templateNodes)
    .map((node: unknown) => (isJsonObject(node) ? field(node, 'NodeTemplateName').value : undefined))
    .filter((name): name is string => typeof name === 'string' && isName(name));
  return [...new Set(names.map((name) => name.trim()))];
}

/**
 * Checks a parsed template definition file against the registered node templates.
 * @param known by name; what is missing there is not registered
 */
export function checkTemplateFile(
  file: unknown,
  known: ReadonlyMap<string, KnownNodeTemplate>,
): TemplateCheck {
  const issues = new IssueList();
  if (!isJsonObject(file)) {
    return { ok: false, issues: [{ path: '$', message: 'The template definition must be a JSON object.' }] };
  }
  const head = checkHead(file, issues);
  const nodes = checkNodes(file, known, issues);
  return issues.isEmpty ? { ok: true, template: { ...head, nodes } } : { ok: false, issues: issues.items };
}

function checkHead(file: JsonObject, issues: IssueList): Omit<TemplateFile, 'nodes'> {
  const version = field(file, 'TemplateVersion');
  const templateVersion = typeof version.value === 'number' ? String(version.value) : (version.value ?? '');
  if (typeof templateVersion !== 'string' || (templateVersion !== '' && !isName(templateVersion))) {
    issues.add(jsonPath(version.key), 'TemplateVersion must be text of at most 255 characters.');
  }
  const description = field(file, 'Description');
  const text = description.value ?? '';
  if (
    typeof text !== 'string' ||
    !isStorableText(text) ||
    !withinCharacters(text, limits.descriptionCharacters)
  ) {
    issues.add(
      jsonPath(description.key),
      `Description must be text of at most ${limits.descriptionCharacters} characters.`,
    );
  }
  const update = field(file, 'UpdateIfExists');
  if (update.value !== undefined && typeof update.value !== 'boolean') {
    issues.add(jsonPath(update.key), 'updateIfExists must be true or false.');
  }
  return {
    name: requiredName(file, 'Name', [], issues),
    templateVersion: typeof templateVersion === 'string' ? templateVersion.trim() : '',
    description: typeof text === 'string' ? text : '',
    configuration: freeJson(file, 'Configuration', [], issues),
    updateIfExists: update.value === true,
  };
}

interface ReadNode extends TemplateNode {
  readonly parentsKey: string;
  /** Where the node template's name is, for messages about its type. */
  readonly templateKey: string;
}

function checkNodes(
  file: JsonObject,
  known: ReadonlyMap<string, KnownNodeTemplate>,
  issues: IssueList,
): TemplateNode[] {
  const { key, value } = field(file, 'Nodes');
  if (!Array.isArray(value) || value.length < 1 || value.length > limits.templateNodes) {
    issues.add(jsonPath(key), `Nodes must be a list of 1 to ${limits.templateNodes} nodes.`);
    return [];
  }
  const validatorOf = configurationValidators();
  const nodes = value.map((node: unknown, index): ReadNode | null => {
    if (isJsonObject(node)) return readNode(node, [key, index], known, validatorOf, issues);
    issues.add(jsonPath(key, index), 'A node must be an object.');
    return null;
  });
  checkNames(nodes, key, issues);
  checkParents(nodes, key, issues);
  checkTypes(nodes, key, known, issues);
  const complete = nodes.filter((node) => node !== null);
  checkCycle(complete, nodes, key, issues);
  return complete.map(({ name, nodeTemplateName, defaultConfiguration, parents }) => ({
    name,
    nodeTemplateName,
    defaultConfiguration,
    parents,
  }));
}

function readNode(
  node: JsonObject,
  steps: Steps,
  known: ReadonlyMap<string, KnownNodeTemplate>,
  validatorOf: (nodeTemplateName: string, schema: unknown) => ConfigurationValidator,
  issues: IssueList,
): ReadNode {
  const name = requiredName(node, 'Name', steps, issues);
  const nodeTemplateName = requiredName(node, 'NodeTemplateName', steps, issues);
  const templateKey = field(node, 'NodeTemplateName').key;
  const template = known.get(nodeTemplateName);
  if (nodeTemplateName !== '' && template === undefined) {
    issues.add(
      jsonPath(...steps, templateKey),
      `Node template ${quoteRunnerName(nodeTemplateName)} is not registered.`,
    );
  }
  if (template?.retired) {
    issues.add(jsonPath(...steps, templateKey), `Node template ${quote(nodeTemplateName)} is retired.`);
  }
  const faultsBefore = issues.items.length;
  const defaultConfiguration = freeJson(node, 'DefaultConfiguration', steps, issues);
  if (template !== undefined && issues.items.length === faultsBefore) {
    const validate = validatorOf(nodeTemplateName, template.configurationSchema);
    const configurationKey = field(node, 'DefaultConfiguration').key;
    for (const { path, message } of validate(defaultConfiguration, [...steps, configurationKey]))
      issues.add(path, message);
  }
  const { key: parentsKey, value } = field(node, 'Parents');
  return {
    name,
    nodeTemplateName,
    defaultConfiguration,
    templateKey,
    parentsKey,
    parents: readParents(value, [...steps, parentsKey], issues),
  };
}

/** Parents keep their places, so that later faults can name them: what is no text becomes ''. */
function readParents(value: unknown, steps: Steps, issues: IssueList): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > limits.templateNodes) {
    issues.add(jsonPath(...steps), 'Parents must be a list of node names.');
    return [];
  }
  return value.map((parent: unknown, index) => {
    if (typeof parent === 'string' && isName(parent)) return parent.trim();
    issues.add(jsonPath(...steps, index), 'A parent must be the name of a node.');
    return '';
  });
}

function checkNames(nodes: readonly (ReadNode | null)[], key: string, issues: IssueList): void {
  const seen = new Set<string>();
  for (const [index, node] of nodes.entries()) {
    if (node === null || node.name === '') continue;
    if (seen.has(node.name))
      issues.add(jsonPath(key, index, 'Name'), `The node name ${quote(node.name)} is used twice.`);
    seen.add(node.name);
  }
}

function checkParents(nodes: readonly (ReadNode | null)[], key: string, issues: IssueList): void {
  const names = new Set(nodes.map((node) => node?.name));
  for (const [index, node] of nodes.entries()) {
    const seen = new Set<string>();
    for (const [place, parent] of (node?.parents ?? []).entries()) {
      if (parent === '') continue;
      const path = jsonPath(key, index, node!.parentsKey, place);
      if (!names.has(parent)) issues.add(path, `No node is named ${quote(parent)}.`);
      if (seen.has(parent)) issues.add(path, `The parent ${quote(parent)} is listed twice.`);
      seen.add(parent);
    }
  }
}

/** Nodes without parents are Input nodes and only they are; there is at least one. */
function checkTypes(
  nodes: readonly (ReadNode | null)[],
  key: string,
  known: ReadonlyMap<string, KnownNodeTemplate>,
  issues: IssueList,
): void {
  for (const [index, node] of nodes.entries()) {
    const type = known.get(node?.nodeTemplateName ?? '')?.type;
    if (node === null || type === undefined) continue;
    if (node.parents.length === 0 && type !== 'Input') {
      issues.add(
        jsonPath(key, index, node.templateKey),
        `A node without parents must be of type Input; ${quote(node.nodeTemplateName)} is of type ${type}.`,
      );
    }
    if (node.parents.length > 0 && type === 'Input') {
      issues.add(jsonPath(key, index, node.parentsKey), 'A node of type Input cannot have parents.');
    }
  }
  if (nodes.every((node) => node !== null && node.parents.length > 0)) {
    issues.add(jsonPath(key), 'At least one node must have no parents.');
  }
}

function checkCycle(
  complete: readonly ReadNode[],
  nodes: readonly (ReadNode | null)[],
  key: string,
  issues: IssueList,
): void {
  const graph = orderGraph(complete);
  if (graph.kind === 'acyclic') return;
  const [parent, child] = graph.names as [string, string];
  // Where two nodes have one name, the graph holds the later.
  const index = nodes.findLastIndex((node) => node?.name === child && node.parents.includes(parent));
  const place = nodes[index]?.parents.indexOf(parent) ?? 0;
  issues.add(
    jsonPath(key, index, nodes[index]?.parentsKey ?? 'Parents', place),
    `The nodes form a cycle: ${graph.names.slice(0, 20).map(quote).join(' -> ')}${graph.names.length > 20 ? ' -> …' : ''}.`,
  );
}

/** True when an update of a stored template leaves its graph as it is: the same nodes of the same node templates and parents. */
export function isSameTemplateGraph(
  left: readonly Pick<TemplateNode, 'name' | 'parents' | 'nodeTemplateName'>[],
  right: readonly Pick<TemplateNode, 'name' | 'parents' | 'nodeTemplateName'>[],
): boolean {
  const templates = new Map(right.map((node) => [node.name, node.nodeTemplateName]));
  return isSameGraph(left, right) && left.every((node) => templates.get(node.name) === node.nodeTemplateName);
}
