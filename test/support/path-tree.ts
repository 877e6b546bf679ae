/** Paths matched by the contract’s rules, independent of the product's router, which is compared with it. */

type Node<T> = {
  readonly literals: Map<string, Node<T>>;
  one: { readonly node: Node<T> } | null;
  rest: Map<string, Entry<T>> | null;
  readonly entries: Map<string, Entry<T>>;
};
type Entry<T> = { readonly value: T; readonly names: readonly string[] };

export type Match<T> =
  | { readonly found: 'route'; readonly value: T; readonly params: Readonly<Record<string, string>> }
  | { readonly found: 'path'; readonly methods: readonly string[] }
  | { readonly found: 'nothing' };

const emptyNode = <T>(): Node<T> => ({ literals: new Map(), one: null, rest: null, entries: new Map() });

/** A tree of path segments. Words win over `{name}`, which wins over `{name+}`; a dead end tries the next. */
export class PathTree<T> {
  readonly #root: Node<T> = emptyNode();

  /** Throws when another value already has this method and form of path. */
  add(method: string, path: string, value: T): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of segmentsOf(path)) {
      const name = /^\{(\w+)(\+?)\}$/.exec(segment);
      if (name === null) {
        const next = node.literals.get(segment) ?? emptyNode<T>();
        node.literals.set(segment, next);
        node = next;
        continue;
      }
      names.push(name[1] ?? '');
      if (name[2] === '+') {
        node.rest ??= new Map();
        put(node.rest, method, path, { value, names });
        return;
      }
      node.one ??= { node: emptyNode<T>() };
      node = node.one.node;
    }
    put(node.entries, method, path, { value, names });
  }

  /** Finds by method and path without query; segments come back percent-decoded where they can be. */
  match(method: string, path: string): Match<T> {
    const segments = segmentsOf(path);
    const methods = new Set<string>();
    const values: string[] = [];
    const entry = search(this.#root, segments, 0, values, method, methods);
    if (entry !== null) {
      const params: Record<string, string> = {};
      entry.names.forEach((name, index) => {
        params[name] = values[index] ?? '';
      });
      return { found: 'route', value: entry.value, params };
    }
    return methods.size > 0 ? { found: 'path', methods: [...methods].sort() } : { found: 'nothing' };
  }
}

function put<T>(entries: Map<string, Entry<T>>, method: string, path: string, entry: Entry<T>): void {
  if (entries.has(method)) throw new Error(`Two routes answer ${method} ${path}.`);
  entries.set(method, entry);
}

function search<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: string[],
  method: string,
  methods: Set<string>,
): Entry<T> | null {
  const segment = segments[at];
  if (segment === undefined) return pick(node.entries, method, methods);
  const literal = node.literals.get(decodeSegment(segment));
  if (literal !== undefined) {
    const found = search(literal, segments, at + 1, values, method, methods);
    if (found !== null) return found;
  }
  if (node.one !== null && segment !== '') {
    values.push(decodeSegment(segment));
    const found = search(node.one.node, segments, at + 1, values, method, methods);
    if (found !== null) return found;
    values.pop();
  }
  const rest = segments.slice(at);
  if (node.rest === null || rest.join('/') === '') return null;
  const found = pick(node.rest, method, methods);
  if (found !== null) values.push(rest.map(decodeSegment).join('/'));
  return found;
}

function pick<T>(entries: Map<string, Entry<T>>, method: string, methods: Set<string>): Entry<T> | null {
  const wanted = entries.get(method) ?? (method === 'HEAD' ? entries.get('GET') : undefined);
  if (wanted !== undefined) return wanted;
  for (const known of entries.keys()) {
    methods.add(known);
    if (known === 'GET') methods.add('HEAD');
  }
  return null;
}

function segmentsOf(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  return trimmed === '' ? [] : trimmed.split('/');
}

/** A segment that cannot be decoded stays as it is: as an id it is then invalid, which is a 404. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
