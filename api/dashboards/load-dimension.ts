import { Problem } from '../../domain/errors.ts';
import { type DimensionRow, findDimension } from '../../store/dashboards/dimension-reads.ts';
import type { Services } from '../services.ts';

/** The dashboard of a path; 404 when there is none. */
export async function loadDimension(context: {
  readonly params: { readonly id: number };
  readonly services: Services;
}): Promise<DimensionRow> {
  const dimension = await findDimension(context.services.database, context.params.id);
  if (dimension === undefined) throw new Problem('dimensionNotFound');
  return dimension;
}
