/** What the page of a template compares, in its address. Pure: tested without a browser. */

export interface Comparison {
  /** Null: the newest. */
  readonly version: number | null;
  /** Null: the version before, or the newest of the other template. */
  readonly since: number | null;
  /** Null: this template. */
  readonly sinceTemplateId: number | null;
}

export function readComparison(query: URLSearchParams): Comparison {
  const number = (name: string) => {
    const value = Number(query.get(name) ?? Number.NaN);
    return Number.isSafeInteger(value) && value > 0 ? value : null;
  };
  return {
    version: number('version'),
    since: number('since'),
    sinceTemplateId: number('sinceTemplate'),
  };
}

export function templateAddress(templateId: number, comparison: Comparison): string {
  const { version, since, sinceTemplateId } = comparison;
  const parts = { version, since, sinceTemplate: sinceTemplateId };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value !== null) query.set(name, String(value));
  const text = query.toString();
  return `/templates/${templateId}${text === '' ? '' : `?${text}`}`;
}
