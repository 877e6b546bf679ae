/** A dashboard for a recording without a layout: panels by group and unit. */
import type { RecordingChannel, SuggestedLayout } from '../description.ts';

const panelChannels = 8;
const panels = 40;

/** Numeric channels of one group and unit share a panel; texts and booleans have one panel a group, after them. */
export function suggestLayout(
  channels: readonly RecordingChannel[],
  groups: readonly { id: string; name: string }[],
): SuggestedLayout {
  const result: SuggestedLayout['panels'] = [];
  for (const group of groups) {
    const members = channels.filter((channel) => channel.group === group.id);
    const units = new Map<string | null, string[]>();
    const states: string[] = [];
    for (const channel of members) {
      if (channel.type === 'text' || channel.type === 'boolean') states.push(channel.id);
      else units.set(channel.unit, [...(units.get(channel.unit) ?? []), channel.id]);
    }
    for (const [unit, ids] of units) {
      for (let from = 0; from < ids.length; from += panelChannels) {
        const title = unit === null ? group.name : `${group.name} [${unit}]`;
        result.push({ title, group: group.id, unit, channels: ids.slice(from, from + panelChannels) });
      }
    }
    for (let from = 0; from < states.length; from += panelChannels) {
      const title = `${group.name}: states`;
      result.push({ title, group: group.id, unit: null, channels: states.slice(from, from + panelChannels) });
    }
  }
  return { version: 1, panels: result.slice(0, panels) };
}
