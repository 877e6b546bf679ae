/** The search of a list of annotations. Pure: tested without a browser. */
import type { Annotation } from '../../../client/types.ts';

/** The annotations with a text in their label, text, tags or author. */
export function annotationsWith(annotations: readonly Annotation[], search: string): readonly Annotation[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return annotations;
  return annotations.filter(({ label, text, tags, createdByName }) =>
    [label, text, ...tags, createdByName ?? ''].some((part) => part.toLowerCase().includes(wanted)),
  );
}
