import { useState } from 'preact/hooks';
import { Pages } from '../admin/pages.tsx';
import type { ConfigurationEntry, ConfigurationRequest } from '../admin-api.ts';
import { changeConfiguration, createConfiguration, listConfiguration } from '../admin-api.ts';
import { formatExactly } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { changedFields } from '../ui/changed-fields.ts';
import { AreaField, FormDialog, SelectField, TextField } from '../ui/form.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useAddressSearch } from '../ui/search-text.ts';
import { Table } from '../ui/table.tsx';

type ValueType = NonNullable<ConfigurationRequest['valueType']>;
const asRequest = (entry: ConfigurationEntry) => ({ ...entry, valueType: entry.valueType as ValueType });

const valueTypes = ['string', 'integer', 'number', 'bool', 'JSON'];

/** The platform's configuration entries. */
export function ConfigurationPage() {
  useTitle('Configuration');
  const list = useResource('configuration', listConfiguration);
  const { wanted, text, setText } = useAddressSearch();
  const [edited, setEdited] = useState<ConfigurationEntry | 'new' | null>(null);
  const isWanted = ({ name, description }: ConfigurationEntry) =>
    `${name}\n${description}`.toLowerCase().includes(wanted.toLowerCase());
  return (
    <div class="page">
      <div class="page-head">
        <h1>Configuration</h1>
        <div class="actions">
          <SearchField label="Search by name or description" value={text} onValue={setText} />
          <AddButton onClick={() => setEdited('new')}>New entry</AddButton>
        </div>
      </div>
      <Loaded
        of={list}
        failure="The configuration could not be read."
        rows={4}
        label="Loading the configuration"
      >
        {(entries) =>
          entries.some(isWanted) ? (
            <Pages of={entries.filter(isWanted)} what={['entry', 'entries']}>
              {(shown) => <EntryTable entries={shown} onEdit={setEdited} />}
            </Pages>
          ) : (
            <Empty title={wanted === '' ? 'No entries yet' : `No entry matches “${wanted}”`}>
              {wanted === '' && <p>An entry is a value that programs read from the platform by its name.</p>}
            </Empty>
          )
        }
      </Loaded>
      {edited !== null && (
        <EntryForm
          entry={edited === 'new' ? null : edited}
          saved={list.reload}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}

function EntryTable(props: {
  entries: readonly ConfigurationEntry[];
  onEdit: (entry: ConfigurationEntry) => void;
}) {
  return (
    <Table caption="Configuration entries" columns={['Name', 'Type', 'Value', 'Updated']}>
      {props.entries.map((entry) => (
        <tr key={entry.id}>
          <td class="wrap-anywhere">
            <button
              type="button"
              class="row-link row-button"
              title={`Updated ${formatExactly(entry.updatedAt)}`}
              onClick={() => props.onEdit(entry)}
            >
              {entry.name}
            </button>
            {entry.description !== '' && <div class="faint">{entry.description}</div>}
          </td>
          <td data-label="Type">{valueTypes[entry.valueType] ?? entry.valueType}</td>
          <td data-label="Value" class="mono">
            {entry.value.length > 80 ? `${entry.value.slice(0, 80)} …` : entry.value}
          </td>
          <td data-label="Updated" class="nowrap">
            <Ago at={entry.updatedAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function EntryForm(props: { entry: ConfigurationEntry | null; saved: () => void; onClose: () => void }) {
  const { entry } = props;
  const [name, setName] = useState(entry?.name ?? '');
  const [valueType, setValueType] = useState(String(entry?.valueType ?? 0));
  const [value, setValue] = useState(entry?.value ?? '');
  const [description, setDescription] = useState(entry?.description ?? '');
  const save = async () => {
    const body = { name: name.trim(), valueType: Number(valueType) as ValueType, value, description };
    if (entry === null) await createConfiguration(body);
    else await changeConfiguration(entry.name, changedFields<ConfigurationRequest>(asRequest(entry), body));
    props.saved();
    props.onClose();
  };
  return (
    <FormDialog
      title={entry === null ? 'New entry' : 'Edit entry'}
      verb={entry === null ? 'Create entry' : 'Save'}
      save={save}
      onClose={props.onClose}
    >
      <TextField
        label="Name"
        hint="Words with colons between them: PublicApi:Ui:Title"
        required
        value={name}
        onValue={setName}
      />
      <SelectField
        label="Type"
        value={valueType}
        options={valueTypes.map((label, index) => ({ value: String(index), label }))}
        onValue={setValueType}
      />
      <AreaField label="Value" code value={value} onValue={setValue} />
      <TextField label="Description" value={description} onValue={setDescription} />
    </FormDialog>
  );
}
