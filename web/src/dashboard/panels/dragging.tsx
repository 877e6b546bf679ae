import { useEffect, useRef, useState } from 'preact/hooks';

/** Panels that are dragged to another place, or moved by the arrow keys. `move` is false where there is no such place. */
export function useDragging(move: (from: number, to: number) => boolean) {
  const from = useRef<number | null>(null);
  /** The handle that gets the focus when the panel is at its new place. */
  const follows = useRef<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  return {
    over,
    follows,
    begin: (index: number) => {
      from.current = index;
    },
    end: () => {
      from.current = null;
      setOver(null);
    },
    dragOver: (event: DragEvent, index: number) => {
      // Anything else that is dragged, as a file, is none of the layout's.
      if (from.current === null) return;
      event.preventDefault();
      setOver(index === from.current ? null : index);
    },
    drop: (event: DragEvent, index: number) => {
      if (from.current === null) return;
      event.preventDefault();
      move(from.current, index);
      from.current = null;
      setOver(null);
    },
    step: (index: number, by: number) => {
      if (move(index, index + by)) follows.current = index + by;
    },
  };
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Takes a panel by the pointer or by the keys. */
export function DragHandle(props: {
  index: number;
  count: number;
  dragging: ReturnType<typeof useDragging>;
}) {
  const { index, dragging } = props;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (dragging.follows.current !== index) return;
    dragging.follows.current = null;
    button.current?.focus();
  });
  if (props.count < 2) return null;
  return (
    <button
      ref={button}
      type="button"
      class="button button-small panel-handle"
      draggable
      aria-label={`Move panel ${index + 1}: arrow keys`}
      title="Drag, or press the arrow keys, to move this panel"
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', `panel ${index + 1}`);
        dragging.begin(index);
      }}
      onDragEnd={dragging.end}
      onKeyDown={(event) => {
        const by = steps[event.key];
        if (by === undefined) return;
        event.preventDefault();
        dragging.step(index, by);
      }}
    >
      ⠿
    </button>
  );
}
