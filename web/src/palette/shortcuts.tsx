import { Dialog } from '../ui/dialog.tsx';

const groups: readonly { title: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'Go to a page, a session, a project or a runner, or do something on this page'],
      ['/', 'Search in the list of this page'],
      ['?', 'Show this list'],
      ['Escape', 'Close what is open'],
    ],
  },
  {
    title: 'List of sessions',
    keys: [
      ['j k', 'Go to the next or the previous session'],
      ['x', 'Choose the session, or no longer'],
      ['Enter', 'Open the session'],
      ['c', 'Compare the chosen sessions'],
    ],
  },
  {
    title: 'Graph of a session',
    keys: [
      ['← ↑ → ↓', 'Choose the next node'],
      ['Ctrl and wheel', 'Zoom'],
    ],
  },
  {
    title: 'Chart of a dashboard',
    keys: [
      ['← →', 'Move the cursor'],
      ['Shift ← →', 'Move what is shown, as the wheel does sideways'],
      ['+ −', 'Zoom in time'],
      ['Shift ↑ ↓', 'Zoom in values'],
      ['A B', 'Put a cursor there that stays'],
      ['M', 'Annotate'],
      ['Escape', 'Show everything'],
    ],
  },
];

/** The keys of the console. */
export function Shortcuts(props: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={props.onClose}>
      {groups.map(({ title, keys }) => (
        <section key={title} class="shortcuts">
          <h3>{title}</h3>
          <dl>
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
