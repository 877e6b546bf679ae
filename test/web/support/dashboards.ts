/** Dashboards as the interface describes them. */
import type { Dashboard, DashboardChannel, DashboardSource } from '../../../client/types.ts';

export const channel = (
  outputId: number,
  id: string,
  part: Partial<DashboardChannel> = {},
): DashboardChannel => ({
  key: `${outputId}:${id}`,
  id,
  name: id,
  unit: null,
  type: 'number',
  group: 'vehicle',
  realm: `cab-${outputId}`,
  ...part,
});

export const source = (outputId: number, channels: readonly DashboardChannel[]): DashboardSource => ({
  outputId,
  name: `machine-${outputId}.csv`,
  realm: `cab-${outputId}`,
  time: {
    kind: 'absolute',
    from: '2026-03-14T09:30:00.000Z',
    to: '2026-03-14T10:30:00.000Z',
    basis: 'column' as const,
  },
  rowCount: 10,
  groups: [{ id: 'vehicle', name: 'Vehicle' }],
  channels,
});

export const dashboard = (
  sources: readonly DashboardSource[],
  layout: Dashboard['layout'] = null,
): Dashboard => ({
  id: 1,
  title: 'Test',
  sessionId: 's',
  sessionName: 'S',
  dashboardName: 'default',
  dashboardVersion: 'next',
  url: '/dashboards/1',
  scenarioName: null,
  from: null,
  to: null,
  layout,
  sources,
  createdAt: '2026-03-14T09:30:00.000Z',
});
