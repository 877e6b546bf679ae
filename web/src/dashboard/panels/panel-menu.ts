import type { MenuItem } from '../../ui/menu.tsx';
import { type LayoutForm, merged, type PanelForm, placed, separated, withPanel } from './model.ts';

interface Grid {
  layout: LayoutForm;
  onLayout: (layout: LayoutForm) => void;
  edit: () => void;
  removed: () => void;
  /** The panel that gets the focus afterwards: the one of the menu is another one then. */
  follows: { current: number | null };
}

/** What can be done to a panel of a layout. */
export function arrangements(grid: Grid, form: PanelForm, index: number): MenuItem[] {
  const { layout, onLayout } = grid;
  const { kind, width, height } = form;
  const next = layout.panels[index + 1];
  const sized = (change: Partial<PanelForm>) => () => onLayout(withPanel(layout, index, change));
  const then = (at: number, next: LayoutForm) => {
    grid.follows.current = at;
    onLayout(next);
  };
  const moved = (by: number) => () => then(index + by, placed(layout, index, index + by));
  const items: (MenuItem | false)[] = [
    { label: 'Edit panel', icon: 'plus', act: grid.edit },
    index > 0 && { label: 'Move forward', icon: 'left', act: moved(-1) },
    next !== undefined && { label: 'Move back', icon: 'right', act: moved(1) },
    width > 3 && { label: 'Narrower', icon: 'minus', act: sized({ width: width - 3 }) },
    width < 12 && { label: 'Wider', icon: 'plus', act: sized({ width: Math.min(12, width + 3) }) },
    height > 160 && { label: 'Lower', icon: 'minus', act: sized({ height: height - 80 }) },
    height < 800 && { label: 'Higher', icon: 'plus', act: sized({ height: height + 80 }) },
    kind === 'lines' &&
      next?.kind === 'lines' && {
        label: 'Merge with the next',
        icon: 'columns',
        act: () => then(index, merged(layout, index)),
      },
    kind === 'lines' &&
      form.channels.length > 1 && {
        label: 'A panel for each channel',
        icon: 'columns',
        act: () => then(index, separated(layout, index)),
      },
    layout.panels.length > 1 && {
      label: 'Remove panel',
      icon: 'cross',
      danger: true,
      act: () => {
        grid.removed();
        const panels = layout.panels.filter((_, at) => at !== index);
        then(Math.min(index, panels.length - 1), { ...layout, panels });
      },
    },
  ];
  return items.filter((item) => item !== false);
}
