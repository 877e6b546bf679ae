/** The console's icons: 16 units wide, in the colour of the surrounding text. */
const paths = {
  circle: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.2l2 1.3',
  spinner: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  check: 'm3.5 8.6 3 3 6-7',
  cross: 'm4.2 4.2 7.6 7.6m0-7.6-7.6 7.6',
  pause: 'M5.8 3.8v8.4m4.4-8.4v8.4',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4Zm3.2 7.4 3 3',
  chart: 'M2.5 2.5v11h11M5 10l2.4-3.4 2.2 2L13 4.5',
  download: 'M8 2.5v7.5m-3-3 3 3 3-3M3 13.2h10',
  upload: 'M8 10.5V3m-3 3 3-3 3 3M3 13.2h10',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  up: 'M3.5 10 8 5.5l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  reset: 'M3.2 8a4.8 4.8 0 1 0 1.6-3.6M3 2.6v2.6h2.6',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.9.9m1.3 2.4a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.9-.9',
  warning: 'M8 2.8 1.9 13.2h12.2L8 2.8Zm0 4v3m0 1.6v.3',
  list: 'M5.5 4h8m-8 4h8m-8 4h8M2.6 4h.3m-.3 4h.3m-.3 4h.3',
  out: 'M9.5 2.8H4.2a1 1 0 0 0-1 1v8.4a1 1 0 0 0 1 1h5.3M7 8h6.5m-2.4-2.4L13.5 8l-2.4 2.4',
  play: 'M5 3.2v9.6l7.6-4.8L5 3.2Z',
  branch: 'M4.5 2.8v10.4M4.5 8h3a3 3 0 0 0 3-3V3m-2 2 2-2 2 2',
  freeze: 'M8 2v12M2.8 5l10.4 6M13.2 5 2.8 11M8 4.5 6.6 3.1M8 4.5l1.4-1.4M8 11.5l-1.4 1.4M8 11.5l1.4 1.4',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3',
  more: 'M3 7.6h1v1H3zM7.5 7.6h1v1h-1zM12 7.6h1v1h-1z',
  bin: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4m2-4v4',
  lock: 'M4 7.5h8v6H4zM5.8 7.5V5.2a2.2 2.2 0 0 1 4.4 0v2.3',
  menu: 'M2.5 4h11m-11 4h11m-11 4h11',
  sessions: 'M2.5 3.5h4v3h-4zM9.5 9.5h4v3h-4zM6.5 5h2a2 2 0 0 1 2 2v2.5',
  info: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 7.4v3.4M8 5.2v.3',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5V13',
  eye: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8ZM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z',
  projects: 'M2.5 4.5h4l1.4 1.6h5.6v6.4h-11z',
  runs: 'M2.5 4h4.5M5 8h6M8.5 12h5',
  shared: 'M2.5 4.2h6.5M5 8h8.5M3.5 11.8h7M2.5 3v2.4M9 3v2.4M5 6.8v2.4M13.5 6.8v2.4',
  manifests: 'M3 2.5h10v11H3zM5.5 5.5h5m-5 2.5h5m-5 2.5h3',
  columns: 'M2.5 3h4.7v10H2.5zM8.8 3h4.7v10H8.8z',
  dashboards: 'M2.5 2.5v11h11M5 10l2.4-3.4 2.2 2L13 4.5',
  reports: 'M4 2.5h5.5L12.5 5.5v8H4zM9 2.5V6h3.5M6 9h4m-4 2.2h4',
  runners: 'M3 3h10v4H3zM3 9h10v4H3zM5 5h.3M5 11h.3',
  templates:
    'M2.5 6.5h3v3h-3zM10.5 2.5h3v3h-3zM10.5 10.5h3v3h-3zM5.5 8h2.3M10.5 4H9.2A1.4 1.4 0 0 0 7.8 5.4v5.2A1.4 1.4 0 0 0 9.2 12h1.3',
  ingests: 'M2.5 9v4.5h11V9M8 2.5v7m-2.6-2.6L8 9.5l2.6-2.6',
  webhooks: 'M2.5 8h6M6 5.2 8.8 8 6 10.8M10.5 3.5h3v9h-3',
  configuration: 'M2.5 5h6m3 0h2M2.5 11h2m3 0h6M10 3.5v3M6 9.5v3',
  users:
    'M6 3a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 6 3ZM2 13c0-2.2 1.8-3.6 4-3.6s4 1.4 4 3.6M10.5 3.2a2.2 2.2 0 0 1 0 4M12 9.8c1.3.5 2 1.7 2 3.2',
  audit: 'M3.5 2.5h9v11h-9zM6 5.5h4m-4 2.5h4m-4 2.5h2.5',
  retention: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.2l2 1.3',
  storage: 'M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0',
  tokens: 'M5 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM7.8 8h6M11.6 8v2.4',
} as const;

export type IconName = keyof typeof paths;

export function isIcon(name: string): name is IconName {
  return Object.hasOwn(paths, name);
}

/** An icon beside a text. Screen readers skip it and read the text. */
export function Icon(props: { name: IconName; class?: string }) {
  const turning = props.name === 'spinner' ? ' icon-turning' : '';
  return (
    <svg
      class={`icon${turning} ${props.class ?? ''}`}
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[props.name]} />
    </svg>
  );
}
