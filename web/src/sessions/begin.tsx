import { useState } from 'preact/hooks';
import { createSession, listProjects, listTemplates, readSession } from '../api.ts';
import { useAction } from '../hooks.ts';
import { platform } from '../http.ts';
import { useAbilities } from '../role.ts';
import { navigate } from '../router.ts';
import { DropOverlay } from '../session/upload/drop-overlay.tsx';
import { startUploads } from '../session/upload/upload-store.ts';
import { useFilePicker } from '../ui/file-picker.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Notice } from '../ui/notice.tsx';
import { exampleRecording } from './example.ts';

const projectTitle = 'Inbox';
const templateName = 'system-tabular-dashboard-autodetect-next';

/** In place of an empty list: a file becomes a session with a dashboard, project and template are chosen for one. */
export function Begin() {
  const { changeProjects } = useAbilities();
  const { action, message, begin } = useBeginning(null);
  const picker = useFilePicker({ label: 'Recording to begin with', multiple: true, onFiles: begin });
  if (!changeProjects) return <Empty title="No sessions yet" />;
  return (
    <Empty title="No sessions yet">
      <p>Drop a recording anywhere on this page to begin: CSV, JSON or Parquet.</p>
      <div class="actions">
        <button type="button" class="button button-primary" aria-disabled={action.busy} onClick={picker.open}>
          <Icon name="upload" />
          Choose a file
        </button>
        <button
          type="button"
          class="button"
          aria-disabled={action.busy}
          onClick={() => begin([exampleRecording()])}
        >
          <Icon name="chart" />
          Load the example
        </button>
      </div>
      {picker.field}
      <p class="faint" role="status">
        {message}
      </p>
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <DropOverlay onFiles={begin} />
    </Empty>
  );
}

/** Over a list with sessions: what is dropped becomes one more, in the project that is shown. */
export function DropToBegin(props: { projectId: number | null }) {
  const { changeProjects } = useAbilities();
  const { action, message, begin } = useBeginning(props.projectId);
  if (!changeProjects) return null;
  return (
    <>
      {message !== '' && <Notice tone="info">{message}</Notice>}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
      <DropOverlay onFiles={begin} />
    </>
  );
}

/** @param projectId null: the one for sessions that begin with a file */
function useBeginning(projectId: number | null) {
  const action = useAction();
  const [message, setMessage] = useState('');
  const begin = (files: readonly File[]) => {
    if (files.length === 0) return;
    void action.run(async () => {
      setMessage(`Uploading ${files.map(({ name }) => name).join(', ')} …`);
      await beginWith(files, projectId).finally(() => setMessage(''));
    });
  };
  return { action, message, begin };
}

/** Opens the new session, which is called like the first file, and shows there how far the files are. */
async function beginWith(files: readonly File[], projectId: number | null): Promise<void> {
  const templates = await listTemplates();
  const template = templates.find(({ name }) => name === templateName) ?? templates[0];
  if (template === undefined) throw new Error('The platform has no session template.');
  const sessionId = await createSession({
    Name: files[0]!.name.replace(/\.[^.]+$/, ''),
    ProjectId: projectId ?? (await inboxOf(template.id)),
    SessionTemplateId: template.id,
  });
  const session = await readSession(sessionId);
  const input = session.nodeInstances.find(({ parentIds }) => parentIds.length === 0);
  if (input !== undefined) startUploads(input.id, files);
  navigate(`/sessions/${sessionId}`);
}

async function inboxOf(templateId: number): Promise<number> {
  const projects = await listProjects();
  const known = projects.find(({ title }) => title === projectTitle);
  if (known !== undefined) return known.id;
  const body = {
    Title: projectTitle,
    Description: 'Sessions that began with a file.',
    DefaultSessionTemplateId: templateId,
  };
  return (await platform.call('POST /projects', { body })).id;
}
