import { useState } from 'preact/hooks';
import { askStatistics } from '../../dashboard-api.ts';
import { useAction } from '../../hooks.ts';
import { textOf } from '../../http.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, Form, TextField } from '../../ui/form.tsx';
import { type LayoutForm, newPanel, withoutDerived } from './model.ts';
import { most } from './read-form.ts';

/** The platform names a field by its path in the request, `$.derived[0].expression` or `body.derived.0.name`. */
const inWordsOfForm = (text: string) =>
  text.replace(
    /^(?:\$|body)\.derived[.[]0\]?\.(\w)(\w*)/,
    (_, first: string, rest: string) => first.toUpperCase() + rest,
  );

/** Derived channels of a layout. The platform checks a new one over this dashboard and says where a fault is. */
export function DerivedForm(props: {
  dimensionId: string;
  layout: LayoutForm;
  onLayout: (layout: LayoutForm) => void;
  onClose: () => void;
}) {
  const { layout } = props;
  const [name, setName] = useState('');
  const [unit, setUnit] = useState('');
  const [expression, setExpression] = useState('');
  const action = useAction();
  const add = () =>
    action.run(async () => {
      const one = { name: name.trim(), unit: unit.trim() === '' ? null : unit.trim(), expression };
      if (layout.derived.some((other) => other.name === one.name))
        throw new Error(`The layout has a derived channel ${one.name} already.`);
      if (layout.derived.length >= most.derived)
        throw new Error(`A layout has at most ${most.derived} derived channels. Remove one.`);
      const now = new Date(0).toISOString();
      const asked = askStatistics(props.dimensionId, { channels: [], from: now, to: now, derived: [one] });
      await asked.catch((error: unknown) => {
        throw new Error(inWordsOfForm(textOf(error)));
      });
      const panel = newPanel('lines', [`=${one.name}`]);
      props.onLayout({ ...layout, derived: [...layout.derived, one], panels: [...layout.panels, panel] });
      props.onClose();
    });
  const remove = (gone: string) => props.onLayout(withoutDerived(layout, gone));
  return (
    <Dialog title="Derived channels" onClose={props.onClose}>
      {layout.derived.length > 0 && <DerivedList derived={layout.derived} onRemove={remove} />}
      <Form action={action} verb="Add channel" onSubmit={() => void add()} onCancel={props.onClose}>
        <TextField label="Name" required value={name} onValue={setName} />
        <TextField label="Unit" value={unit} onValue={setUnit} />
        <AreaField
          label="Expression"
          code
          rows={3}
          hint={
            'Channels by name, in "…" where they have spaces. + - * / ^, < <= > >= == !=, abs min max sqrt sin cos atan2, if(condition, then, else), integrate, differentiate, lag(x, rows).'
          }
          value={expression}
          onValue={setExpression}
        />
      </Form>
    </Dialog>
  );
}

function DerivedList(props: { derived: LayoutForm['derived']; onRemove: (name: string) => void }) {
  return (
    <ul>
      {props.derived.map((one) => (
        <li key={one.name}>
          <strong>{one.name}</strong> <code>{one.expression}</code>
          <button type="button" class="button button-small" onClick={() => props.onRemove(one.name)}>
            Remove {one.name}
          </button>
        </li>
      ))}
    </ul>
  );
}
