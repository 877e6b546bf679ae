import type { NodeRun } from '../../../client/types.ts';

/** The name of a file that a run wrote: a dashboard is called so, as among the files of its session. */
export const writtenName = ({ nodeTemplate }: Pick<NodeRun, 'nodeTemplate'>, fileName: string | null) =>
  fileName ?? (nodeTemplate === 'system-next-dimension' ? 'Dashboard' : null);
