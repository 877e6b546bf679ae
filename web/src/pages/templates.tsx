import { useState } from 'preact/hooks';
import { listTemplates } from '../api.ts';
import { useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { navigate, useAddress, withParameters } from '../router.ts';
import { readTemplate, type SessionTemplate } from '../templates/api.ts';
import { TemplateNodes } from '../templates/nodes.tsx';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useAddressSearch } from '../ui/search-text.ts';

/** The session templates; the chosen one, which is in the address, with its graph. */
export function TemplatesPage() {
  useTitle('Templates');
  const { query } = useAddress();
  const list = useResource('templates', listTemplates);
  const asked = Number(query.get('template'));
  const { wanted, text, setText } = useAddressSearch();
  const found = (list.data ?? []).filter((template) => isWanted(template, wanted));
  const chosen = list.data?.find(({ id }) => id === asked) ?? found[0] ?? list.data?.[0] ?? null;
  return (
    <div class="page">
      <div class="page-head">
        <h1>Templates</h1>
        <div class="actions">
          <SearchField label="Search by name or description" value={text} onValue={setText} />
          <ImportButton
            imported={(id) => {
              list.reload();
              navigate(`/templates?template=${id}`);
            }}
          />
        </div>
      </div>
      <Loaded of={list} failure="The templates could not be listed." rows={4} label="Loading templates">
        {() =>
          chosen === null ? (
            <Empty title="No templates yet" />
          ) : (
            <div class="split">
              <ul class="choices" aria-label="Templates">
                {found.length === 0 && <li class="faint">{`No template matches “${wanted}”.`}</li>}
                {found.map((template) => (
                  <li key={template.id}>
                    <a
                      href={withParameters({ template: String(template.id) })}
                      {...(template.id === chosen.id ? { 'aria-current': 'true' } : {})}
                    >
                      <span title={template.name}>{titleOf(template.name)}</span>
                      {template.description !== '' && <span class="faint">{template.description}</span>}
                    </a>
                  </li>
                ))}
              </ul>
              <TemplateDetails key={chosen.id} template={chosen} />
            </div>
          )
        }
      </Loaded>
    </div>
  );
}

function isWanted({ name, description }: SessionTemplate, text: string): boolean {
  return `${titleOf(name)}\n${name}\n${description}`.toLowerCase().includes(text.toLowerCase());
}

function ImportButton(props: { imported: (id: number) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="button button-primary" onClick={() => setIsOpen(true)}>
        <Icon name="upload" />
        Import a definition
      </button>
      {isOpen && (
        <ImportLoader
          imported={({ id }) => {
            setIsOpen(false);
            props.imported(id);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </>
  );
}

/** The code of the editor is fetched when it is opened. */
const ImportLoader = lazy(
  () => import('../templates/definition-dialogs.tsx').then(({ ImportDefinition }) => ImportDefinition),
  null,
);

function TemplateDetails(props: { template: SessionTemplate }) {
  const { id, name, description } = props.template;
  const one = useResource(String(id), (signal) => readTemplate(id, signal));
  return (
    <section class="page" aria-label={`Template ${titleOf(name)}`}>
      <div class="page-head">
        <div>
          <h2 title={name}>{titleOf(name)}</h2>
          {description !== '' && <p class="faint">{description}</p>}
        </div>
        <a class="button" href={`/templates/${id}`}>
          Versions and use
        </a>
      </div>
      <Loaded of={one} failure="The template could not be read." rows={3} label="Loading the template">
        {({ nodes }) => <TemplateNodes nodes={nodes} />}
      </Loaded>
    </section>
  );
}
