import { askStatistics } from '../../dashboard-api.ts';
import { useResource } from '../../hooks.ts';
import { Failure } from '../../ui/notice.tsx';
import type { TimeSpan } from '../model.ts';
import { Bars } from './bars.tsx';
import { type Member, ofRecording } from './derived-members.ts';
import { binShares, edgeQuestion, type LayoutForm, type PanelForm } from './model.ts';

/** Counted over every row of the window, by the means of channels that are 1 beyond an edge between bins. */
export function Histogram(props: {
  dimensionId: string;
  layout: LayoutForm;
  form: PanelForm;
  world: { span: TimeSpan };
  member: Member;
  label: string;
}) {
  const { dimensionId, layout, world, member } = props;
  const window = {
    from: new Date(world.span.fromMs).toISOString(),
    to: new Date(world.span.toMs).toISOString(),
  };
  const found = useResource(JSON.stringify([dimensionId, member.key, layout.derived, window]), (signal) =>
    countShares(dimensionId, member, layout.derived, window, signal),
  );
  if (found.error !== null)
    return <Failure what="The values could not be counted." error={found.error} retry={found.reload} />;
  if (found.data === null)
    return <p class="faint plot-none">{found.loading ? 'Counting values' : 'No values in this range.'}</p>;
  return (
    <Bars
      label={`How often each value of ${member.name} is`}
      scale={found.data.scale}
      shares={found.data.shares}
      across={props.label}
      height={props.form.height}
    />
  );
}

/** The range of a channel, and the share of its rows in each bin of it; null without values. */
async function countShares(
  dimensionId: string,
  member: Member,
  derived: LayoutForm['derived'],
  window: { from: string; to: string },
  signal: AbortSignal,
) {
  const key = member.asked;
  const whole = {
    ...window,
    channels: key.startsWith('=') ? [] : [key],
    derived: derived.filter(({ name }) => `=${name}` === key),
  };
  const found = await askStatistics(dimensionId, whole, signal);
  const { min, max } = ofRecording(member, found.statistics)[0] ?? {};
  if (min == null || max == null) return null;
  const scale =
    min.value < max.value
      ? { min: min.value, max: max.value }
      : { min: min.value - 0.5, max: max.value + 0.5 };
  const edges = { ...window, channels: [], derived: edgeQuestion(key, derived, scale) };
  const { statistics } = await askStatistics(dimensionId, edges, signal);
  return { scale, shares: binShares(ofRecording(member, statistics).map(({ mean }) => mean ?? 0)) };
}
