/** The console's signs: 16 units wide, drawn with the colour of the text around them. */
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
} as const;

export type IconName = keyof typeof paths;

/** A sign beside a text. It says nothing to a screen reader: the text beside it does. */
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
