/** The parameter of a JSON column; null for none. */
export const jsonOrNull = (json: object | null | undefined) => (json == null ? null : JSON.stringify(json));

/** Gathers the parameters of a statement that is put together from parts; `bind` returns the placeholder. */
export class Parameters {
  readonly values: unknown[] = [];

  bind(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`;
  }
}
