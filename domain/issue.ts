/** One fault of a document that a caller sent, and where it is (decisions 4 and 10). */
export type Issue = {
  /** JSONPath of the faulty value: `$.Nodes[0].Parents[1]`. */
  readonly path: string;
  /** A sentence for the caller. */
  readonly message: string;
};

/** No list of faults grows beyond this; the last item then says that more were left out. */
const maxIssues = 200;

const plainKey = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const maxKeyCharacters = 100;

/** `jsonPath('Nodes', 0, 'a b')` is `$.Nodes[0]['a b']`. Long keys are cut, so that a message stays readable. */
export function jsonPath(...steps: readonly (string | number)[]): string {
  return steps.reduce<string>((path, step) => path + pathStep(step), '$');
}

function pathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (plainKey.test(step)) return `.${step}`;
  const cut = step.length > maxKeyCharacters ? `${step.slice(0, maxKeyCharacters)}…` : step;
  return `['${cut.toWellFormed().replace(/[\\']/g, '\\$&')}']`;
}

/** Gathers issues in the order they are found, up to {@link maxIssues}. */
export class IssueList {
  readonly items: Issue[] = [];

  add(path: string, message: string): void {
    if (this.items.length < maxIssues) this.items.push({ path, message });
    else if (this.items.length === maxIssues)
      this.items.push({ path: '$', message: 'More faults exist and are not listed.' });
  }

  get isEmpty(): boolean {
    return this.items.length === 0;
  }
}

const maxQuoteCharacters = 80;

/** A caller's text inside a message: quoted and cut. */
export function quote(text: string): string {
  const shown = text.length > maxQuoteCharacters ? `${text.slice(0, maxQuoteCharacters)}…` : text;
  return `'${shown.toWellFormed()}'`;
}
