/** Names of nodes, templates, runners and outputs as people read them. Pure: tested without a browser. */

import type { ListedOutput, NodeRunAttempt, User } from '../../client/types.ts';

/** What is shipped, by the names in its template. */
const shipped: Readonly<Record<string, string>> = {
  'system-tabular-dashboard-autodetect-next': 'Table to dashboard',
  'system-tabular-to-dataservice': 'Read table',
  'system-next-dimension': 'Make dashboard',
  'input-node': 'Upload',
  'tabular-upload': 'Upload',
  'tabular-autodetect': 'Read table',
  'tabular-dashboard': 'Make dashboard',
};

const generated = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** `lap-splitter` reads `Lap splitter`; a name that a person wrote as words stays. */
export function titleOf(name: string): string {
  const title = shipped[name];
  if (title !== undefined || generated.test(name)) return title ?? name;
  return /^[a-z][a-z0-9]*([-_][a-z0-9]+)+$/.test(name) ? sentence(name) : name;
}

/** The title of a node's template where it says more than that of the node, else nothing. */
export function templateTitle(nodeName: string, nodeTemplate: string): string {
  const title = titleOf(nodeTemplate);
  return title.toLowerCase() === titleOf(nodeName).toLowerCase() ? '' : title;
}

const sentence = (name: string) => capitalized(wordsOf(name));

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const wordsOf = (name: string) => name.replaceAll(/[-_]+/g, ' ');

/** `create project` of `createProject`: an operation, or a kind of object, by its id in the audit. */
export const idWords = (id: string) => id.replaceAll(/[A-Z]/g, ' $&').toLowerCase();

/** `Create project` of `createProject`. */
export const idTitle = (id: string) => capitalized(idWords(id));

interface Actor {
  readonly kind: string;
  readonly id: string | null;
}

/** What a device did was not done by the person of its token. */
export const isOwnActor = ({ kind, id }: Actor, ownId: string | undefined) => kind === 'user' && id === ownId;

/** `You`, the name of a person, `Device`. */
export function actorTitle(
  actor: Actor,
  ownId: string | undefined,
  people: ReadonlyMap<string | null, string>,
): string {
  if (isOwnActor(actor, ownId)) return 'You';
  return (actor.kind === 'user' && people.get(actor.id)) || idTitle(actor.kind);
}

/** `createProject` of `Create project`; an id stays. */
export function idOf(title: string): string {
  const [first = '', ...rest] = title.trim().split(/\s+/);
  const joined = rest.map((word) => capitalized(word.toLowerCase())).join('');
  return first.charAt(0).toLowerCase() + first.slice(1) + joined;
}

/** The name of a person, or else what they sign in with. */
export function personTitle(user: Pick<User, 'firstName' | 'lastName' | 'username'>): string {
  return `${user.firstName} ${user.lastName}`.trim() || user.username;
}

/** The kits name an instance `type:host:process:random`, with a number where a process has several. */
const madeByKit = /^([^:]+):([^:]+):\d+:[0-9a-f]{6,}(?:\.(\d+))?$/i;

/** `top speed on pit-wall-3`; without a name that the kits made, the label of the runner's token, else the id itself. */
export function runnerTitle(instanceId: string, label: string | null = null): string {
  const made = madeByKit.exec(instanceId);
  if (made !== null)
    return `${wordsOf(made[1]!)} on ${made[2]}${made[3] === undefined ? '' : `, ${made[3]}`}`;
  return label === null || label === '' ? instanceId : label;
}

/** A sentence of the platform with the titles of the nodes and the runner that it names. */
export function withTitles(text: string, names: readonly string[], instanceId: string | null): string {
  const titled = instanceId === null ? text : text.replaceAll(instanceId, runnerTitle(instanceId));
  // A longer name may contain a shorter one.
  return [...new Set(names)]
    .filter((name) => titleOf(name) !== name)
    .sort((a, b) => b.length - a.length)
    .reduce((part, name) => part.replaceAll(name, titleOf(name)), titled);
}

const categories: Readonly<Record<NonNullable<NodeRunAttempt['category']>, true>> = {
  error: true,
  validation: true,
  memory: true,
  timeout: true,
};
/** The command line and the agents end the identifier of a file by a digest of its bytes. */
const digested = /(\.\w{1,8})-[0-9a-f]{16}/.source;
const digestedEnd = new RegExp(`${digested}$`);
const digestedName = new RegExp(`${digested}(?=: )`, 'g');
const category = new RegExp(`(^|: )(?:${Object.keys(categories).join('|')}): `);

/** `lap.csv: The file is empty.` of `validation: lap.csv-e3b0c44298fc1c14: The file is empty.`: the rest is for programs. */
export const withoutCategory = (text: string) => text.replace(category, '$1').replace(digestedName, '$1');

/** The name of the uploaded file; what was made of a file has its name too. Else the identifier. */
export function outputTitle(
  output: Pick<ListedOutput, 'metadata' | 'outputIdentifier' | 'contentType'>,
): string {
  const { fileName, name, kind } = output.metadata ?? {};
  if (kind === 'dashboard' && !isName(fileName)) return 'Dashboard';
  if (isName(name) && !isName(fileName))
    return generated.test(name) ? 'Recording' : `${withoutDigest(name)}, recording`;
  return fileTitle(isName(fileName) ? fileName : null, output);
}

/** The name of a file; without one its identifier, or its type where the platform made that. */
export function fileTitle(
  fileName: string | null,
  output: { readonly outputIdentifier: string; readonly contentType: string | null },
): string {
  const { outputIdentifier, contentType } = output;
  if (fileName !== null) return withoutDigest(fileName);
  return generated.test(outputIdentifier)
    ? capitalized(`${typeWord(contentType)} file`.trim())
    : withoutDigest(outputIdentifier);
}

/** `lap.csv` of `lap.csv-e3b0c44298fc1c14`. */
export const withoutDigest = (identifier: string) => identifier.replace(digestedEnd, '$1');

/** `CSV`, `PARQUET`: the last word of a content type. */
export function typeWord(contentType: string | null): string {
  const [type = ''] = (contentType ?? '').split(';');
  if (type.trim() === 'application/octet-stream') return 'Binary';
  return (
    type
      .split(/[/.+-]/)
      .at(-1)
      ?.trim()
      .toUpperCase() ?? ''
  );
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
