import { useEffect, useRef } from 'preact/hooks';
import type { ChannelSeries } from '../../api.ts';
import { valueAt } from '../chart/curve.ts';
import type { ChartGroup } from '../chart/group.ts';
import type { Channel } from '../model.ts';

/** The values at the cursor, written into the page without drawing it again. */
export function CursorTable(props: {
  members: readonly Channel[];
  byKey: ReadonlyMap<string, ChannelSeries>;
  group: ChartGroup;
}) {
  const { members, byKey, group } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const follow = (timeMs: number | null) => {
      for (const [index, row] of [...(body.current?.rows ?? [])].entries()) {
        const channel = members[index];
        const cell = row.cells[1];
        if (channel === undefined || cell === undefined) continue;
        cell.textContent = timeMs === null ? '–' : valueAt(byKey.get(channel.key), channel, timeMs);
      }
    };
    follow(group.cursorMs);
    return group.listen(follow);
  });
  return (
    <table class="cursor-table">
      <thead>
        <tr>
          <th scope="col">Channel</th>
          <th scope="col">At the cursor</th>
          <th scope="col">Unit</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {members.map(({ key, name, unit }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            <td />
            <td class="faint">{unit}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
