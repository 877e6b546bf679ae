import { useState } from 'preact/hooks';
import { type Action, useAction, useResource, useTitle } from '../hooks.ts';
import { isMissing } from '../http.ts';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { navigate, useAddress } from '../router.ts';
import { saveBlob } from '../save.ts';
import { readComparison, templateAddress } from '../templates/address.ts';
import {
  listTemplateVersions,
  readTemplate,
  readTemplateVersion,
  type SessionTemplate,
  type SessionTemplateImported,
  type SessionTemplateVersions,
} from '../templates/api.ts';
import { TemplateChanges } from '../templates/changes.tsx';
import { TemplateNodes } from '../templates/nodes.tsx';
import { TemplateUse } from '../templates/use.tsx';
import { VersionTable } from '../templates/versions.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { Icon } from '../ui/icon.tsx';
import { lazy } from '../ui/lazy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import '../styles/template.css';

const pageSize = 10;

/** The editor's code is fetched when it is opened. */
const NewVersionLoader = lazy(
  () => import('../templates/definition-dialogs.tsx').then(({ NewVersion }) => NewVersion),
  null,
);

/** A session template: its graph, its versions with what each changed, and what uses it. */
export function TemplatePage({ templateId }: { templateId: number }) {
  const [page, setPage] = useState(1);
  const [message, setMessage] = useState('');
  const template = useResource(`template ${templateId}`, (signal) => readTemplate(templateId, signal));
  const versions = useResource(
    `template-versions ${templateId} ${page}`,
    (signal) => listTemplateVersions(templateId, { page, pageSize }, signal),
    { keepWhileLoading: true },
  );
  useTitle(template.data === null ? 'Template' : titleOf(template.data.name));
  const newest = versions.data?.totalCount ?? 0;
  if (!Number.isSafeInteger(templateId) || isMissing(template.error)) return <NoTemplate />;
  const reload = () => {
    template.reload();
    versions.reload();
  };
  const made = ({ id, version, created }: SessionTemplateImported) => {
    // A new template has a page of its own.
    if (!created)
      setMessage(
        version > newest
          ? `Version ${version} was made. Sessions that are made from now on get it.`
          : `Nothing differs from version ${version}: no version was made.`,
      );
    setPage(1);
    reload();
    navigate(templateAddress(id, { version: null, since: null, sinceTemplateId: null }));
  };
  return (
    <div class="page">
      <Head name={template.data?.name ?? ''} templateId={templateId} newest={newest} made={made} />
      {message !== '' && <Notice tone="done">{message}</Notice>}
      <Loaded
        of={{ data: template.data, error: template.error ?? versions.error, reload }}
        failure="The template could not be read."
        rows={6}
        label="Loading the template"
      >
        {(shown) => <TemplateBody template={shown} versions={versions.data} onPage={setPage} />}
      </Loaded>
    </div>
  );
}

function TemplateBody(props: {
  template: SessionTemplate;
  /** Null while they are loaded. */
  versions: SessionTemplateVersions | null;
  onPage: (page: number) => void;
}) {
  const { template, versions } = props;
  return (
    <div class="template-columns">
      <div class="template-main">
        {template.description !== '' && <p class="faint wrap-anywhere">{template.description}</p>}
        <section class="section" aria-label="Graph">
          <h2>Graph</h2>
          <TemplateNodes nodes={template.nodes} />
        </section>
        {versions !== null && versions.totalCount > 0 && (
          <Versions templateId={template.id} list={versions} onPage={props.onPage} />
        )}
      </div>
      <TemplateUse templateId={template.id} />
    </div>
  );
}

/** The versions, and what one of them changed. */
function Versions(props: {
  templateId: number;
  list: SessionTemplateVersions;
  onPage: (page: number) => void;
}) {
  const { templateId, list } = props;
  const newest = list.totalCount;
  const comparison = readComparison(useAddress().query);
  return (
    <>
      <section class="section" aria-label="Versions">
        <h2>Versions</h2>
        <VersionTable
          templateId={templateId}
          list={list}
          shown={comparison.version ?? newest}
          onPage={props.onPage}
        />
      </section>
      <TemplateChanges templateId={templateId} newest={newest} comparison={comparison} />
    </>
  );
}

function NoTemplate() {
  return (
    <Empty isPage title="Template not found">
      <p>
        Check the address. <a href="/templates">Templates</a>
      </p>
    </Empty>
  );
}

function Head(props: {
  name: string;
  templateId: number;
  newest: number;
  made: (imported: SessionTemplateImported) => void;
}) {
  const { name, templateId, newest } = props;
  const { operate } = useAbilities();
  const [isOpen, setIsOpen] = useState(false);
  const action = useAction();
  return (
    <header class="session-head">
      {operate && (
        <nav class="crumbs" aria-label="Path">
          <a href="/templates">Templates</a>
        </nav>
      )}
      <div class="page-head">
        <h1 title={name}>
          {titleOf(name) || 'Template'}
          {newest > 0 && <span class="tag">version {newest}</span>}
        </h1>
        <div class="actions">
          <DefinitionButton name={name} templateId={templateId} newest={newest} action={action} />
          {operate && (
            <AddButton disabled={newest === 0} onClick={() => setIsOpen(true)}>
              New version
            </AddButton>
          )}
        </div>
      </div>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      {isOpen && (
        <NewVersionLoader
          templateId={templateId}
          version={newest}
          made={(imported) => {
            setIsOpen(false);
            props.made(imported);
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </header>
  );
}

/** Saves the newest version as a file. */
function DefinitionButton(props: { name: string; templateId: number; newest: number; action: Action }) {
  const { name, templateId, newest, action } = props;
  const save = async () => {
    const { definition } = await readTemplateVersion(templateId, newest);
    const text = `${JSON.stringify(definition, null, 2)}\n`;
    saveBlob(new Blob([text], { type: 'application/json' }), `${name}.json`);
  };
  return (
    <button
      type="button"
      class="button"
      disabled={newest === 0}
      aria-disabled={action.busy}
      onClick={() => void action.run(save)}
    >
      <Icon name="download" />
      Definition
    </button>
  );
}
