/**
 * What each route that Trainees may call reads of a session: one table, read as sentences. One place uses it to decide
 * whose sessions a Trainee reads (api/session-guard.ts); a test checks that no route is missing.
 */

const sessionObjects = ['session', 'nodeInstance', 'nodeOutput', 'dimension'] as const;
export type SessionObject = (typeof sessionObjects)[number];

export type SessionRule =
  | {
      /** What the parameter of the path names: the session itself, or something of it. */
      readonly of: SessionObject;
      readonly from: string;
      /** Members alone, whatever `TRAINEE_DATA` says. */
      readonly always?: true;
      /** Only uploads that name an output to replace, by a header of their own or in the metadata of tus. */
      readonly withIdentifierIn?: 'headers' | 'upload-metadata';
    }
  /** It shows nothing of a session, or checks access itself: how. */
  | { readonly notHere: string };

const nothing = { notHere: 'Shows nothing of a session.' } as const;
const ownUpload = { notHere: 'Answers the caller who began the upload alone.' } as const;
const session = { of: 'session', from: 'id' } as const;
const dimension = { of: 'dimension', from: 'id', always: true } as const;

export const sessionRules: Readonly<Record<string, SessionRule>> = {
  userData: nothing,
  listProjects: nothing,
  getProject: nothing,
  listSessionTemplates: nothing,
  getSessionTemplate: nothing,
  listConfiguration: nothing,
  getNavigation: nothing,
  getFeatureFlags: nothing,
  getStaticNavigation: {
    notHere: 'Shows titles and addresses of system dashboards, and nothing that they draw.',
  },
  createSession: { notHere: 'Shows the session that it makes, whose creator the caller is.' },
  joinSharedSession: { notHere: 'Shows the session that it makes the participant a part of.' },
  updateSession: { notHere: 'Refuses Trainees who take no part with 403 itself.' },
  closeSession: { notHere: 'Refuses those who take no part with 403 itself.' },
  listDimensions: { notHere: 'Lists those of sessions of which the Trainee is a member.' },
  listOwnSessions: { notHere: 'Lists those of which the caller is a member.' },
  getSession: session,
  sessionProgress: session,
  listSessionOutputs: session,
  followSession: session,
  listAnnotations: session,
  createAnnotation: { notHere: 'Refuses Trainees who take no part with 403 itself.' },
  changeAnnotation: { notHere: 'Refuses Trainees who take no part with 403 itself.' },
  deleteAnnotation: { notHere: 'Refuses Trainees who take no part with 403 itself.' },
  createScenarioInstance: { of: 'session', from: 'sessionId' },
  listNodeOutputs: { of: 'nodeInstance', from: 'nodeInstanceId' },
  getLatestNodeOutputData: { of: 'nodeInstance', from: 'nodeInstanceId' },
  explainNodeInstance: { of: 'nodeInstance', from: 'nodeInstanceId' },
  listRejectedInputs: { of: 'nodeInstance', from: 'nodeInstanceId' },
  // Without an identifier an upload replaces nothing and shows what was sent.
  uploadNodeOutput: { of: 'nodeInstance', from: 'nodeInstanceId', withIdentifierIn: 'headers' },
  resumableUploadOptions: nothing,
  createResumableUpload: {
    of: 'nodeInstance',
    from: 'nodeInstanceId',
    withIdentifierIn: 'upload-metadata',
  },
  continueResumableUpload: ownUpload,
  getResumableUpload: ownUpload,
  terminateResumableUpload: ownUpload,
  getNodeOutputData: { of: 'nodeOutput', from: 'nodeOutputId' },
  getDownloadAddress: { of: 'nodeOutput', from: 'nodeOutputId' },
  getOutputLineage: { of: 'nodeOutput', from: 'nodeOutputId' },
  getDashboard: dimension,
  getDashboardSeries: dimension,
  getDashboardStatistics: dimension,
  askDashboardSeries: dimension,
  askDashboardStatistics: dimension,
  listDashboardLayouts: dimension,
  listLayouts: nothing,
  getLayout: nothing,
  createLayout: nothing,
  updateLayout: nothing,
  deleteLayout: nothing,
  exportDashboard: dimension,
  askDashboardExport: dimension,
};
