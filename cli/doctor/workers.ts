/** Whether work waits for the workers. They have no routes, so the metrics of the API are read. */
import { bearerFor } from '../connection.ts';
import { type Finding, fault, ok, probe, skipped, warning } from './finding.ts';

const part = 'workers';
/** The healer of a worker looks after five seconds. */
const sessionSeconds = 60;
/** Built-in nodes may be busy with a long recording. */
const builtinSeconds = 600;

export async function workers(address: string): Promise<Finding> {
  const bearer = await bearerFor(address).catch(() => undefined);
  const token = await bearer?.token();
  if (!token) return skipped(part, 'shown when signed in');
  const answer = await probe(`${address}/metrics`, { authorization: `Bearer ${token}` });
  if (answer?.status === 401 || answer?.status === 403)
    return skipped(part, 'shown to Administrators and Developers');
  const metrics = metricsOf(answer?.status === 200 ? answer.text : '');
  const waitedSeconds = numberOf(metrics, 'sdp_sessions_wanted_oldest_seconds');
  if (waitedSeconds === undefined) return skipped(part, 'the platform does not tell');
  if (numberOf(metrics, 'sdp_part_up', 'part="temporal"') === 0) {
    const advice =
      'Uploads and the tasks of runners go on. Check TEMPORAL_ADDRESS and the server of Temporal.';
    return fault(part, 'Temporal does not answer the API', advice);
  }
  if (waitedSeconds > sessionSeconds) {
    const sessions = numberOf(metrics, 'sdp_sessions_wanted');
    const finding = `sessions that wait for a worker: ${sessions}, the first for ${Math.round(waitedSeconds)} s`;
    return fault(part, finding, 'Start the worker of workflows (worker/main.ts), or see its log.');
  }
  return builtinNodes(metrics);
}

function builtinNodes(metrics: readonly Metric[]): Finding {
  const isBuiltin = ({ labels }: Metric) =>
    !metrics.some((one) => one.name === 'sdp_queue_runners' && one.labels.startsWith(labels));
  const late = metrics
    .filter(({ name, value }) => name === 'sdp_queue_oldest_seconds' && value > builtinSeconds)
    .find(isBuiltin);
  if (late === undefined) return ok(part, 'no work waits for them');
  const [, template] = /"(.*)"/.exec(late.labels) ?? [];
  const finding = `tasks of ${template} have waited for ${Math.round(late.value / 60)} minutes`;
  return warning(part, finding, 'Start the worker of built-in nodes (--queue builtin), or more of them.');
}

interface Metric {
  readonly name: string;
  /** As written: `template="laps"`. */
  readonly labels: string;
  readonly value: number;
}

function metricsOf(text: string): Metric[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }));
}

const numberOf = (metrics: readonly Metric[], wanted: string, label = '') =>
  metrics.find(({ name, labels }) => name === wanted && labels === label)?.value;
