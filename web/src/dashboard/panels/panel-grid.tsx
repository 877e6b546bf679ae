import { useCallback, useRef, useState } from 'preact/hooks';
import { useAction } from '../../hooks.ts';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { saveItems } from '../saving/save-menu.tsx';
import { DragHandle, useDragging } from './dragging.tsx';
import { derivedOf, type PanelForm, placed, storedKeys, titleOf, withPanel } from './model.ts';
import { PanelDialog } from './panel-form.tsx';
import { arrangements } from './panel-menu.ts';
import { draftKey, type GridProps, type PanelProps, PanelView } from './panel-view.tsx';
import { forgetDraft } from './text-panel.tsx';

/** The panels of a layout, in twelve columns. */
export function PanelGrid(props: Omit<GridProps, 'onAxisFault'>) {
  const [edited, setEdited] = useState<number | null>(null);
  const [message, setMessage] = useState('');
  const [axisFaults, reportFault] = useAxisFaults();
  const { layout, onLayout } = props;
  const panel = edited === null ? undefined : layout.panels[edited];
  const dragging = useDragging((from, to) => {
    if (from === to || to < 0 || to >= layout.panels.length) return false;
    onLayout(placed(layout, from, to));
    setMessage(`Panel ${from + 1} is panel ${to + 1} of ${layout.panels.length} now.`);
    return true;
  });
  return (
    <div class="panel-grid">
      {[...new Set(axisFaults.values())].map((fault) => (
        <AxisFault key={fault} fault={fault} toTime={() => onLayout({ ...layout, x: null, split: null })} />
      ))}
      {layout.panels.map((form, index) => (
        <PanelCell
          key={`${index} ${form.kind} ${form.channels.join('\n')}`}
          {...props}
          onAxisFault={reportFault}
          form={form}
          index={index}
          place={placeOf(form, index, props)}
          dragging={dragging}
          edit={() => setEdited(index)}
        />
      ))}
      <div class="visually-hidden" role="status">
        {message}
      </div>
      {edited !== null && panel !== undefined && (
        <PanelDialog
          channels={props.channels}
          layout={layout}
          panel={panel}
          onPanel={(next) => onLayout(withPanel(layout, edited, next))}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}

/** Tells a panel from others with its title or its channels. */
function placeOf(
  form: PanelForm,
  index: number,
  { layout, channels }: Omit<GridProps, 'onAxisFault'>,
): string {
  const channelsOf = (panel: PanelForm) => panel.channels.join('\n');
  const name = (panel: PanelForm) => titleOf(panel, channels, layout.derived);
  const isShared = layout.panels.some(
    (other, at) =>
      at !== index &&
      (name(other) === name(form) || (form.channels.length > 0 && channelsOf(other) === channelsOf(form))),
  );
  return isShared ? `, panel ${index + 1}` : '';
}

/** Why panels cannot be drawn over the x axis, by their places, and the function by which a panel reports it; null: it can. */
function useAxisFaults() {
  const [faults, setFaults] = useState<ReadonlyMap<number, string>>(new Map());
  const report = useCallback((index: number, fault: string | null) => {
    setFaults((before) => {
      if ((before.get(index) ?? null) === fault) return before;
      const next = new Map(before);
      if (fault === null) next.delete(index);
      else next.set(index, fault);
      return next;
    });
  }, []);
  return [faults, report] as const;
}

function AxisFault({ fault, toTime }: { fault: string; toTime: () => void }) {
  return (
    <div class="panel-axis-fault">
      <Notice
        tone="error"
        action={
          <button type="button" class="button button-small" onClick={toTime}>
            Show over time
          </button>
        }
      >
        {fault} Choose another x axis, or split by a channel that changes where it falls, such as the lap.
      </Notice>
    </div>
  );
}

function PanelCell(
  props: PanelProps & {
    dragging: ReturnType<typeof useDragging>;
    edit: () => void;
  },
) {
  const { form, index, dragging, layout, onLayout, world } = props;
  const cell = useRef<HTMLDivElement>(null);
  const action = useAction();
  const seen = {
    name: titleOf(form, props.channels, layout.derived),
    keys: storedKeys({ panels: [form] }, props.channels),
    dimensionOf: () => props.dimensionId,
    derived: derivedOf({ panels: [form] }, layout.derived),
    derivedOf: props.dimensionId,
    span: world.span,
    charts: () => cell.current?.querySelector('.chart') ?? null,
  };
  return (
    <div
      ref={cell}
      class={dragging.over === index ? 'panel-cell panel-cell-over' : 'panel-cell'}
      style={{ '--panel-width': form.width }}
      data-panel={index}
    >
      <PanelView {...props} />
      <div class="panel-tools">
        <DragHandle index={index} count={layout.panels.length} dragging={dragging} />
        <Menu
          label={`Arrange panel ${index + 1}`}
          items={[
            ...arrangements(
              {
                layout,
                onLayout,
                edit: props.edit,
                removed: () => forgetDraft(draftKey(props)),
                follows: dragging.follows,
              },
              form,
              index,
            ),
            ...saveItems(seen, (work) => void action.run(work)),
          ]}
        />
      </div>
      <span role="status">{action.problem}</span>
    </div>
  );
}
