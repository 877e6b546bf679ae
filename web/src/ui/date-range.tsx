/** From one day to another, both of them included; empty for no bound. */
export function DateRange(props: { from: string; to: string; onChange: (from: string, to: string) => void }) {
  const { from, to, onChange } = props;
  return (
    <fieldset class="date-range">
      <legend class="visually-hidden">Days</legend>
      <label>
        <span>From</span>
        <input
          type="date"
          class="select"
          max={to === '' ? undefined : to}
          value={from}
          onChange={(event) => onChange(event.currentTarget.value, to)}
        />
      </label>
      <label>
        <span>To</span>
        <input
          type="date"
          class="select"
          min={from === '' ? undefined : from}
          value={to}
          onChange={(event) => onChange(from, event.currentTarget.value)}
        />
      </label>
      {(from !== '' || to !== '') && (
        <button type="button" class="button button-quiet button-small" onClick={() => onChange('', '')}>
          All days
        </button>
      )}
    </fieldset>
  );
}
