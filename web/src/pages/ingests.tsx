import { useState } from 'preact/hooks';
import { curlLine } from '../admin/curl.ts';
import type { IngestWorld } from '../admin/ingest-form.tsx';
import { IngestForm } from '../admin/ingest-form.tsx';
import { NewSecret } from '../admin/new-secret.tsx';
import type { Ingest, IngestWithSecret } from '../admin-api.ts';
import {
  deleteIngest,
  listDataSources,
  listIngests,
  listProjects,
  listTemplates,
  rotateIngestSecret,
} from '../admin-api.ts';
import { type Resource, useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { AddButton, RowButton } from '../ui/buttons.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { CopyText } from '../ui/form.tsx';
import { Empty, Failure, Notice, Placeholder } from '../ui/notice.tsx';

async function readWorld(signal: AbortSignal): Promise<IngestWorld> {
  const [projects, templates, dataSources] = await Promise.all([
    listProjects(signal),
    listTemplates(signal),
    listDataSources(signal),
  ]);
  return { projects, templates, dataSources };
}

type Open = { what: 'form' | 'delete' | 'rotate'; ingest: Ingest | null } | null;

/** Addresses for files from outside, without an account. */
export function IngestsPage() {
  useTitle('Ingests');
  const list = useResource('ingests', listIngests);
  const world = useResource('ingest-world', readWorld);
  const [open, setOpen] = useState<Open>(null);
  const [secret, setSecret] = useState<IngestWithSecret | null>(null);
  const close = () => setOpen(null);
  return (
    <div class="page">
      <div class="page-head">
        <h1>Ingests</h1>
        <AddButton
          disabled={world.data === null || world.data.projects.length === 0}
          onClick={() => setOpen({ what: 'form', ingest: null })}
        >
          New ingest
        </AddButton>
      </div>
      <IngestList list={list} world={world} onOpen={setOpen} />
      {open?.what === 'form' && world.data !== null && (
        <IngestForm
          ingest={open.ingest}
          world={world.data}
          onClose={close}
          saved={(made) => {
            close();
            setSecret(made);
            list.reload();
          }}
        />
      )}
      {open !== null && open.ingest !== null && open.what !== 'form' && (
        <Question
          what={open.what}
          ingest={open.ingest}
          onClose={close}
          onSecret={setSecret}
          onDone={list.reload}
        />
      )}
      {secret !== null && <IngestSecret made={secret} onClose={() => setSecret(null)} />}
    </div>
  );
}

function IngestList(props: {
  list: Resource<readonly Ingest[]>;
  world: Resource<IngestWorld>;
  onOpen: (open: Open) => void;
}) {
  const { list, world } = props;
  const error = list.error ?? world.error;
  const reload = () => {
    list.reload();
    world.reload();
  };
  return (
    <>
      {error !== null && <Failure what="The ingests could not be listed." error={error} retry={reload} />}
      {(list.data === null || world.data === null) && error === null && (
        <Placeholder rows={3} label="Loading ingests" />
      )}
      {world.data?.projects.length === 0 && (
        <Notice tone="info">
          An ingest creates sessions in a project, and there is no project yet.{' '}
          <a href="/project-list">Create the first project</a>
        </Notice>
      )}
      {list.data?.length === 0 && (
        <Empty title="No ingests yet">
          <p>An ingest is an upload address for devices. Each file creates or feeds a session.</p>
        </Empty>
      )}
      {list.data !== null && world.data !== null && list.data.length > 0 && (
        <ul class="cards">
          {list.data.map((ingest) => (
            <IngestCard key={ingest.id} ingest={ingest} world={world.data!} onOpen={props.onOpen} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Asks before a secret is replaced or an ingest is deleted. */
function Question(props: {
  what: 'rotate' | 'delete';
  ingest: Ingest;
  onClose: () => void;
  onSecret: (made: IngestWithSecret) => void;
  onDone: () => void;
}) {
  const { ingest, onClose, onDone } = props;
  if (props.what === 'delete')
    return (
      <Confirm
        title={`Delete ${ingest.urlPath}?`}
        verb="Delete"
        act={async () => {
          await deleteIngest(ingest.id);
          onDone();
        }}
        onClose={onClose}
      >
        Uploads to its address are refused from now on. The sessions that it created remain.
      </Confirm>
    );
  return (
    <Confirm
      title={`Replace the secret of ${ingest.urlPath}?`}
      verb="Replace secret"
      act={async () => {
        props.onSecret(await rotateIngestSecret(ingest.id));
        onDone();
      }}
      onClose={onClose}
    >
      The current secret is refused from now on. Devices that use it can no longer upload.
    </Confirm>
  );
}

function IngestSecret({ made, onClose }: { made: IngestWithSecret; onClose: () => void }) {
  return (
    <NewSecret title={`The secret of ${made.urlPath}`} value={made.secret} onClose={onClose}>
      <p>Upload a file with</p>
      <CopyText label="Command" text={curlLine(made, made.secret)} />
    </NewSecret>
  );
}

function IngestCard(props: { ingest: Ingest; world: IngestWorld; onOpen: (open: Open) => void }) {
  const { ingest, world } = props;
  const project = world.projects.find(({ id }) => id === ingest.projectId)?.title ?? `#${ingest.projectId}`;
  const template =
    world.templates.find(({ id }) => id === ingest.sessionTemplateId)?.name ?? `#${ingest.sessionTemplateId}`;
  const button = (what: 'form' | 'rotate' | 'delete', verb: string) => (
    <RowButton label={`${verb}: ${ingest.urlPath}`} onClick={() => props.onOpen({ what, ingest })}>
      {verb}
    </RowButton>
  );
  return (
    <li class="card">
      <div class="card-head">
        <div>
          <h2>{ingest.urlPath}</h2>
          <p class="faint">
            {ingest.allowAnonymous ? 'without a secret' : `secret …${ingest.secretHint}`} ·{' '}
            {ingest.creationBehaviour === 'NewSession'
              ? 'each file creates a session'
              : 'feeds the latest open session'}{' '}
            · {ingest.ingestDataType === 'Any' ? 'any data' : ingest.ingestDataType}
          </p>
        </div>
        <div class="actions">
          {button('form', 'Edit')}
          {button('rotate', 'New secret')}
          {button('delete', 'Delete')}
        </div>
      </div>
      <dl class="facts">
        <dt>Project</dt>
        <dd>{project}</dd>
        <dt>Template</dt>
        <dd>
          <a href={`/templates/${ingest.sessionTemplateId}`}>{titleOf(template)}</a>, into{' '}
          {titleOf(ingest.inputNode)}
        </dd>
        <dt>Data source</dt>
        <dd>{ingest.dataSource}</dd>
      </dl>
      <CopyText label={`Command for ${ingest.urlPath}`} text={curlLine(ingest, '$INGEST_SECRET')} />
    </li>
  );
}
