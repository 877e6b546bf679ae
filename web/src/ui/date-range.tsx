import { useEffect, useState } from 'preact/hooks';

/** From one day to another, both of them included; empty for no bound. */
export function DateRange(props: { from: string; to: string; onChange: (from: string, to: string) => void }) {
  const { from, to, onChange } = props;
  return (
    <fieldset class="date-range">
      <legend class="visually-hidden">Days</legend>
      <DayField
        label="From"
        {...(to === '' ? {} : { max: to })}
        value={from}
        onDay={(day) => onChange(day, to)}
      />
      <DayField
        label="To"
        {...(from === '' ? {} : { min: from })}
        value={to}
        onDay={(day) => onChange(from, day)}
      />
      {(from !== '' || to !== '') && (
        <button type="button" class="button button-quiet button-small" onClick={() => onChange('', '')}>
          All days
        </button>
      )}
    </fieldset>
  );
}

/** While a year is typed, its first digits are a year too: 0020 of 2026. */
const isWhole = (day: string) => day === '' || day >= '1000';

function DayField(props: {
  label: string;
  min?: string;
  max?: string;
  value: string;
  onDay: (day: string) => void;
}) {
  const { label, value, onDay, ...bounds } = props;
  const [day, setDay] = useState(value);
  useEffect(() => setDay(value), [value]);
  return (
    <label>
      <span>{label}</span>
      <input
        type="date"
        class="select"
        {...bounds}
        value={day}
        onChange={({ currentTarget }) => {
          setDay(currentTarget.value);
          if (isWhole(currentTarget.value)) onDay(currentTarget.value);
        }}
      />
    </label>
  );
}
