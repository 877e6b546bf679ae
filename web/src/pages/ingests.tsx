import { useState } from 'preact/hooks';
import { curlLine } from '../admin/curl.ts';
import type { IngestWorld } from '../admin/ingest-form.tsx';
import { IngestForm } from '../admin/ingest-form.tsx';
import { MadeSecret } from '../admin/made-secret.tsx';
import type { Ingest } from '../admin-api.ts';
import {
  deleteIngest,
  listDataSources,
  listIngests,
  listProjects,
  listTemplates,
  rotateIngestSecret,
} from '../admin-api.ts';
import { useResource, useTitle } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { Confirm } from '../ui/dialog.tsx';
import { CopyText } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
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
  const [secret, setSecret] = useState<(Ingest & { secret: string }) | null>(null);
  const error = list.error ?? world.error;
  const close = () => setOpen(null);
  const reload = () => {
    list.reload();
    world.reload();
  };
  return (
    <div class="page">
      <div class="page-head">
        <h1>Ingests</h1>
        <button
          type="button"
          class="button button-primary"
          disabled={world.data === null || world.data.projects.length === 0}
          onClick={() => setOpen({ what: 'form', ingest: null })}
        >
          <Icon name="plus" />
          New ingest
        </button>
      </div>
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
            <IngestCard key={ingest.id} ingest={ingest} world={world.data!} onOpen={setOpen} />
          ))}
        </ul>
      )}
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
      {open?.what === 'rotate' && open.ingest !== null && (
        <Confirm
          title={`Replace the secret of ${open.ingest.urlPath}?`}
          verb="Replace secret"
          act={async () => {
            setSecret(await rotateIngestSecret(open.ingest!.id));
            list.reload();
          }}
          onClose={close}
        >
          The current secret is refused from now on. Devices that use it can no longer upload.
        </Confirm>
      )}
      {open?.what === 'delete' && open.ingest !== null && (
        <Confirm
          title={`Delete ${open.ingest.urlPath}?`}
          verb="Delete"
          act={async () => {
            await deleteIngest(open.ingest!.id);
            list.reload();
          }}
          onClose={close}
        >
          Uploads to its address are refused from now on. The sessions that it created remain.
        </Confirm>
      )}
      {secret !== null && (
        <MadeSecret
          title={`The secret of ${secret.urlPath}`}
          value={secret.secret}
          onClose={() => setSecret(null)}
        >
          <p>Upload a file with</p>
          <CopyText label="Command" text={curlLine(secret, secret.secret)} />
        </MadeSecret>
      )}
    </div>
  );
}

function IngestCard(props: { ingest: Ingest; world: IngestWorld; onOpen: (open: Open) => void }) {
  const { ingest, world } = props;
  const project = world.projects.find(({ id }) => id === ingest.projectId)?.title ?? `#${ingest.projectId}`;
  const template =
    world.templates.find(({ id }) => id === ingest.sessionTemplateId)?.name ?? `#${ingest.sessionTemplateId}`;
  const button = (what: 'form' | 'rotate' | 'delete', verb: string) => (
    <button
      type="button"
      class="button button-small"
      aria-label={`${verb}: ${ingest.urlPath}`}
      onClick={() => props.onOpen({ what, ingest })}
    >
      {verb}
    </button>
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
          <a href={`/templates/${ingest.sessionTemplateId}`}>{titleOf(template)}</a>, into {ingest.inputNode}
        </dd>
        <dt>Data source</dt>
        <dd>{ingest.dataSource}</dd>
      </dl>
      <CopyText label={`Command for ${ingest.urlPath}`} text={curlLine(ingest, '$INGEST_SECRET')} />
    </li>
  );
}
