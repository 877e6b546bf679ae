/** Words of a run's own page. Pure: tested without a browser. Apart from the model, which the page of a session loads too. */
import type { NodeRun } from '../../../client/types.ts';

/** The name of a file that a run wrote: a dashboard is called so, as among the files of its session. */
export const writtenName = ({ nodeTemplate }: Pick<NodeRun, 'nodeTemplate'>, fileName: string | null) =>
  fileName ?? (nodeTemplate === 'system-next-dimension' ? 'Dashboard' : null);
