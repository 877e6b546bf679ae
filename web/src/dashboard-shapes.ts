/** The shapes of the platform's answers about dashboards and reports. A change of the contract is made here. */

export interface DashboardChannel {
  /** `<outputId>:<channelId>`, as the series route takes it. */
  key: string;
  id: string;
  name: string;
  unit: string | null;
  type: string;
  group: string | null;
  realm: string | null;
}

export interface DashboardSource {
  outputId: number;
  name: string;
  realm: string | null;
  /** `relative`: from and to are offsets, written as times since 1970. */
  time: { kind: 'absolute' | 'relative'; from: string | null; to: string | null } | null;
  rowCount: number;
  groups: { id: string; name: string }[];
  channels: DashboardChannel[];
}

export interface DashboardPanel {
  title: string | null;
  group: string | null;
  unit: string | null;
  channels: string[];
}

export interface Dashboard {
  id: number | string;
  title: string;
  sessionId: string;
  sessionName: string;
  dashboardName: string | null;
  dashboardVersion: string | null;
  url: string | null;
  scenarioName: string | null;
  from: string | null;
  to: string | null;
  layout: { version: number; panels: DashboardPanel[] } | null;
  sources: DashboardSource[];
  createdAt: string;
}

export interface ChannelSeries {
  channel: string;
  name: string;
  unit: string | null;
  /** Milliseconds since 1970; for relative time, since the start of the recording. */
  times: number[];
  values: (number | boolean | string | null)[];
}

export interface SeriesReply {
  dimensionId: number | string;
  from: string;
  to: string;
  series: ChannelSeries[];
}

export interface Navigation {
  sections: {
    title: string;
    code: string;
    items: { title: string; icon: string; url: string; code: string }[];
  }[];
}

export interface CatalogDimension {
  id: number;
  name: string;
  title: string;
  sessionId: string;
  sessionName: string;
  projectTitle: string;
  dashboardName: string;
  dashboardVersion: string;
  url: string;
  from: string | null;
  to: string | null;
  scenarioName: string | null;
  createdAt: string;
}

export interface DimensionPage {
  dimensions: CatalogDimension[];
  pageNumber: number;
  totalCount: number;
  totalPages: number;
}

export interface CatalogQuery {
  /** Dates as `2026-03-01`; empty for none. */
  from: string;
  to: string;
  page: number;
  order: 'ascending' | 'descending';
}

export interface ReportCatalog {
  reports: { key: string; name: string }[];
  defaultReport: string;
}

export interface ReportColumn {
  columnKey: string;
  name: string;
  /** CEL over the row. */
  expression: string;
  type: string;
  /** An Excel number format; empty: that of the type. */
  format: string;
  source: string;
}

export interface ReportFilter {
  filterKey: string;
  expression: string;
  value: string | number | boolean | null;
  source: string;
}

export interface ReportDefinition {
  key: string;
  name: string;
  fileName: string;
  dimensionNameFilter: string;
  isDefault: boolean;
  columns: ReportColumn[];
  filters: ReportFilter[];
}

export interface ReportFields {
  key?: string;
  name: string;
  fileName?: string;
  dimensionNameFilter: string;
  setAsDefault: boolean;
  columns: (ReportColumn & { order: number })[];
  filters: ReportFilter[];
}
