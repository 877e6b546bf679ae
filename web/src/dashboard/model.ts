/**
 * The content of a dashboard, derived only from its description: its channels, the chosen ones, and how they share
 * panels. Pure: tested without a browser.
 */

import type { Dashboard, DashboardSource } from '../../../client/types.ts';
import { isUuid } from '../../../client/uuid.ts';
import { withoutDigest } from '../names.ts';
import { scaleKeyOf, suggestedPanels } from './suggested-panels.ts';

/** `absolute`: times of a clock. `relative`: offsets from the start of a recording. */
export type TimeKind = 'absolute' | 'relative';

export interface Channel {
  key: string;
  /** Unique within its recording. */
  id: string;
  name: string;
  unit: string;
  realm: string;
  groupId: string;
  groupName: string;
  sourceName: string;
  timeKind: TimeKind;
  /** `state`: true and false, `text`: words; both are drawn as steps between their values. */
  kind: 'number' | 'state' | 'text';
  /** Mean time between two rows of its recording. */
  stepMs: number;
  /** Its name in a legend; absent: its own, with what distinguishes it from others where needed. */
  label?: string;
  /** Place among the series colours; absent: its place in its panel. */
  colour?: number;
}

export interface Panel {
  /** Stable while the same channels are offered. */
  id: string;
  title: string;
  unit: string;
  channels: Channel[];
}

export interface TimeSpan {
  fromMs: number;
  toMs: number;
}

/** A fresh dashboard without a suggested layout shows this many channels, so that it opens fast and stays readable. */
const firstChannels = 6;
const firstLayoutChannels = 24;
const firstPanels = 8;
/** What a recording without groups has. */
const unnamedGroup = 'default';

/** All channels of all sources, in the order of the recording. */
export function channelsOf(dashboard: Dashboard): Channel[] {
  const names = sourceNames(dashboard);
  return dashboard.sources.flatMap((source, index) => {
    const groups = new Map(source.groups.map((group) => [group.id, group.name]));
    return source.channels.map((channel) => ({
      key: channel.key,
      id: channel.id,
      name: channel.name === '' ? channel.id : channel.name,
      unit: channel.unit ?? '',
      // With a realm for each file it is the file's own name.
      realm: channel.realm === source.name ? names[index]! : channel.realm,
      groupId: channel.group,
      groupName: groups.get(channel.group) ?? channel.group,
      sourceName: names[index]!,
      timeKind: timeKindOf(source),
      kind: kindOf(channel.type),
      stepMs: stepOf(source),
    }));
  });
}

/** A file that was uploaded twice is two recordings, and a number distinguishes their names. */
function sourceNames({ sources }: Dashboard): string[] {
  const names = sources.map(sourceName);
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((one) => one === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
}

function stepOf(source: DashboardSource): number {
  const { fromMs, toMs } = spanOf(source);
  const step = (toMs - fromMs) / Math.max(1, source.rowCount - 1);
  return Number.isFinite(step) ? step : 1000;
}

/** What a dashboard is called beside its session's name; empty for the name that every dashboard has. */
export function ownTitle({ title, sessionName }: { title: string; sessionName: string }): string {
  return title === 'Recording' || title === sessionName ? '' : title;
}

/** A generated identifier means nothing to a person; several recordings then get numbers. */
export function sourceName(source: DashboardSource, index: number | null): string {
  if (source.name !== '' && !isUuid(source.name.replace(/(\.\d+)+$/, ''))) return withoutDigest(source.name);
  return index === null ? '1 recording' : `recording ${index + 1}`;
}

function kindOf(type: string): Channel['kind'] {
  if (type === 'boolean') return 'state';
  return type === 'number' || type === 'integer' ? 'number' : 'text';
}

const timeKindOf = ({ time }: DashboardSource): TimeKind =>
  time.kind === 'relative' ? 'relative' : 'absolute';

/** The kinds of time among the sources that have any rows; clock times first. */
export function timeKinds(dashboard: Dashboard): TimeKind[] {
  const kinds = new Set(dashboard.sources.map(timeKindOf));
  return (['absolute', 'relative'] as const).filter((kind) => kinds.has(kind));
}

/** From the first to the last row of all sources of one kind of time; null when there are no rows. */
export function fullSpan(dashboard: Dashboard, kind: TimeKind): TimeSpan | null {
  const spans = dashboard.sources.flatMap((source) => (timeKindOf(source) === kind ? [spanOf(source)] : []));
  const valid = spans.filter((span) => Number.isFinite(span.fromMs) && Number.isFinite(span.toMs));
  if (valid.length === 0) return null;
  const fromMs = Math.min(...valid.map((span) => span.fromMs));
  const toMs = Math.max(...valid.map((span) => span.toMs));
  // A single row has no length; it gets a second around it.
  return toMs - fromMs < 1 ? { fromMs: fromMs - 500, toMs: toMs + 500 } : { fromMs, toMs };
}

function spanOf(source: DashboardSource): TimeSpan {
  return { fromMs: Date.parse(source.time.from ?? ''), toMs: Date.parse(source.time.to ?? '') };
}

/** Tells times of a clock from those since the start of a recording: each belongs to the recordings that are nearest. */
export function kindOfTime(dashboard: Dashboard): (timeMs: number) => TimeKind {
  const spans = (['absolute', 'relative'] as const).map((kind) => ({
    kind,
    span: fullSpan(dashboard, kind),
  }));
  const away = (span: TimeSpan | null, timeMs: number) =>
    span === null ? Number.POSITIVE_INFINITY : Math.max(span.fromMs - timeMs, timeMs - span.toMs, 0);
  return (timeMs) => (away(spans[1]!.span, timeMs) < away(spans[0]!.span, timeMs) ? 'relative' : 'absolute');
}

/** The default choice: the suggested layout, else the first channels; texts only if all are. */
export function firstChoice(dashboard: Dashboard, channels: Channel[], kind: TimeKind): string[] {
  const present = channels.filter((channel) => channel.timeKind === kind);
  const measured = present.filter((channel) => channel.kind !== 'text');
  const offered = measured.length > 0 ? measured : present;
  const keys = new Set(offered.map((channel) => channel.key));
  const suggested = suggestedPanels(dashboard, channels).map((panel) =>
    panel.keys.filter((key) => keys.has(key)),
  );
  const first = suggested.filter((panelKeys) => panelKeys.length > 0).slice(0, firstPanels);
  const fromLayout = [...new Set(first.flat())];
  return fromLayout.length > 0 ? fromLayout.slice(0, firstLayoutChannels) : [...keys].slice(0, firstChannels);
}

/** What would be drawn anew: the recordings and their rows. */
export function contentOf({ sources }: Dashboard): string {
  return JSON.stringify(sources.map(({ outputId, rowCount }) => [outputId, rowCount]));
}

/** Chosen channels in a newer state of their dashboard: a newer output has the channels of the one that it replaces. */
export function carryKeys(before: Dashboard, after: Dashboard, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const place = before.sources.findIndex((source) =>
      source.channels.some((channel) => channel.key === key),
    );
    const old = before.sources[place];
    const id = old?.channels.find((channel) => channel.key === key)?.id;
    const named = after.sources.filter(({ name }) => name === old?.name);
    const source = named.length === 1 ? named[0] : after.sources[place];
    const isKept = after.sources.some(({ channels }) => channels.some((channel) => channel.key === key));
    return isKept
      ? [key]
      : (source?.channels.filter((channel) => channel.id === id) ?? []).map((one) => one.key);
  });
}

/**
 * The panels for the chosen channels: those of the suggested layout first, then one for each group and unit. Channels
 * without a unit share a panel only with channels of the same name in other sources, since other values may not be
 * comparable; a text shares one only with its namesakes, since its words are its scale.
 */
export function panelsFor(dashboard: Dashboard, channels: Channel[], chosen: ReadonlySet<string>): Panel[] {
  const byKey = new Map(channels.map((channel) => [channel.key, channel]));
  const placed = new Set<string>();
  const panels: Panel[] = [];
  for (const [index, suggested] of suggestedPanels(dashboard, channels).entries()) {
    const members = suggested.keys.flatMap((key) => {
      const channel = chosen.has(key) ? byKey.get(key) : undefined;
      return channel === undefined || channel.kind === 'text' ? [] : [channel];
    });
    for (const member of members) placed.add(member.key);
    const unit = suggested.unit ?? sharedUnit(members);
    const title = withoutUnit(suggested.title ?? titleOf(members), unit);
    if (members.length > 0) panels.push({ id: `layout-${index}`, title, unit, channels: members });
  }
  const shared = new Map<string, Channel[]>();
  for (const channel of channels) {
    if (!chosen.has(channel.key) || placed.has(channel.key)) continue;
    const id = channel.kind === 'text' ? `text ${channel.name}` : `${channel.groupId} ${scaleKeyOf(channel)}`;
    const members = shared.get(id);
    if (members === undefined) shared.set(id, [channel]);
    else members.push(channel);
  }
  for (const [id, members] of shared) {
    const title = titleOf(members);
    panels.push({ id, title, unit: members[0]!.unit, channels: members });
  }
  return panels;
}

/** Suggested titles end in the unit, which is already shown beside the title. */
function withoutUnit(title: string, unit: string): string {
  const ending = `[${unit}]`;
  return unit !== '' && title.endsWith(ending) ? title.slice(0, -ending.length).trim() : title;
}

function sharedUnit(members: Channel[]): string {
  const units = new Set(members.map((member) => member.unit));
  return units.size === 1 ? [...units][0]! : '';
}

/** The names of its channels in a row. */
function titleOf(members: Channel[]): string {
  const names = [...new Set(members.map((member) => member.name))];
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}

/** A channel's name in a legend: with its realm or source when several have the same name. */
export function legendName(channel: Channel, members: Channel[]): string {
  if (channel.label !== undefined) return channel.label;
  const same = members.filter((member) => member.name === channel.name);
  if (same.length < 2) return channel.name;
  const realms = new Set(same.map((member) => member.realm));
  const mark = realms.size === same.length ? channel.realm : channel.sourceName || channel.realm;
  return mark === '' ? channel.name : `${channel.name} (${mark})`;
}

export interface ChannelGroup {
  id: string;
  title: string;
  channels: Channel[];
}

/** The channels by realm and group, for the list in which they are chosen; `search` narrows it. */
export function groupChannels(channels: Channel[], search: string): ChannelGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const realms = new Set(channels.map((channel) => channel.realm));
  const groups = new Map<string, ChannelGroup>();
  for (const channel of channels) {
    const text = `${channel.realm} ${channel.groupName} ${channel.name} ${channel.unit} ${channel.sourceName}`;
    if (!words.every((word) => text.toLowerCase().includes(word))) continue;
    const id = JSON.stringify([channel.realm, channel.groupId]);
    const parts = [realms.size > 1 ? channel.realm : '', channel.groupName].filter(
      (part) => part !== '' && part !== unnamedGroup,
    );
    const group = groups.get(id) ?? {
      id,
      title: parts.join(' · ') || (realms.size > 1 ? 'Several recordings' : 'All channels'),
      channels: [],
    };
    group.channels.push(channel);
    groups.set(id, group);
  }
  return [...groups.values()];
}
