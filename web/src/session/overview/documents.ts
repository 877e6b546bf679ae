import { type ListedOutput, readOutputData } from '../../api.ts';
import { type Figure, figuresOf } from './figures.ts';

/** A document of figures is small. */
const maxFigureBytes = 64 * 1024;
const maxDocuments = 12;

/** The newest small JSON document of each node; outputs come newest first. */
export function newestDocuments(outputs: readonly ListedOutput[]): ListedOutput[] {
  const byNode = new Map<number, ListedOutput>();
  for (const output of outputs) {
    const isJson = output.contentType?.split(';')[0]?.trim() === 'application/json';
    // The figures of a dashboard are those of its recordings.
    if (!isJson || output.sizeBytes > maxFigureBytes || output.metadata?.kind === 'dashboard') continue;
    if (!byNode.has(output.nodeInstanceId)) byNode.set(output.nodeInstanceId, output);
  }
  return [...byNode.values()].slice(0, maxDocuments);
}

/** The numbers of documents. One that cannot be read hides no other figure. */
export async function readFigures(
  documents: readonly ListedOutput[],
  signal: AbortSignal,
): Promise<Figure[]> {
  const read = documents.map(async ({ id, nodeInstanceId }) => {
    const json: unknown = await readOutputData(id, signal)
      .then((response) => response.json())
      .catch(() => null);
    return figuresOf(json).map((figure) => ({ ...figure, nodeInstanceId }));
  });
  return (await Promise.all(read)).flat();
}
