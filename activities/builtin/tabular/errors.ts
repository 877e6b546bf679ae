/** Faults of a tabular file, with their place for its owner. */

export interface TabularPlace {
  /** Line of the file, from 1. For JSON arrays too where it is known. */
  line?: number | undefined;
  /** Field of the line (csv), or character of the line (JSON), from 1. */
  column?: number | undefined;
  /** Heading of the column. */
  columnName?: string | undefined;
}

/** The file is at fault: the run fails with category `validation`. The message names line and column where known. */
export class TabularError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly columnName: string | undefined;

  constructor(fault: string, place: TabularPlace = {}) {
    super(`${describePlace(place)}${fault}`);
    this.name = new.target.name;
    this.line = place.line;
    this.column = place.column;
    this.columnName = place.columnName;
  }
}

/** The file is well formed and holds nothing to show: no rows or no channels. `whenNoOutputs` decides what follows. */
export class NoTabularData extends TabularError {}

function describePlace(place: TabularPlace): string {
  const column =
    place.column === undefined
      ? place.columnName === undefined
        ? ''
        : `column ${excerpt(place.columnName)}`
      : `column ${place.column}${place.columnName === undefined ? '' : ` (${excerpt(place.columnName)})`}`;
  const parts = [place.line === undefined ? '' : `line ${place.line}`, column].filter((part) => part !== '');
  if (parts.length === 0) return '';
  const text = parts.join(', ');
  return `${text[0]?.toUpperCase()}${text.slice(1)}: `;
}

const shownCharacters = 60;

/** Untrusted text within a message: quoted, short, on one line. */
export function excerpt(text: string): string {
  const plain = text.slice(0, 4 * shownCharacters).replace(/[\p{C}\s]+/gu, ' ');
  const points = [...plain];
  const short = points.length > shownCharacters ? `${points.slice(0, shownCharacters).join('')}…` : plain;
  return `"${short}"`;
}
