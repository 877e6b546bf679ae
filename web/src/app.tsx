import { Component, type ComponentChildren } from 'preact';
import type { AdminArea } from './admin-areas.ts';
import { isAdminArea, mayOpen } from './admin-areas.ts';
import { useAuth, useTitle } from './hooks.ts';
import { useAbilities } from './role.ts';
import { useAddress } from './router.ts';
import { Shell } from './shell.tsx';
import { lazy, ReloadNotice } from './ui/lazy.tsx';
import { Empty, Placeholder } from './ui/notice.tsx';

/** The console: the sign-in form without a sign-in, else the page of the present address. */
export function App() {
  const auth = useAuth();
  if (auth.phase === 'restoring') return <Placeholder rows={0} label="Signing in" />;
  const { signIn, notice } = auth;
  const isExpired = auth.phase === 'expired';
  const mustChange = signIn?.user.forceChangePasswordNextSignin === true;
  if (signIn === null || (isExpired && mustChange)) return <SignInLoader notice={notice} />;
  const { user } = signIn;
  if (mustChange) return <PasswordLoader user={user} />;
  return (
    <>
      {/* Another person gets nothing of the page of the one before. */}
      <Shell key={user.userId} user={user}>
        <Pages />
      </Shell>
      {isExpired && <SignInAgainLoader notice={notice} username={user.username} />}
    </>
  );
}

function Pages() {
  const { path } = useAddress();
  return (
    <ErrorBoundary path={path}>
      <Page path={path} />
    </ErrorBoundary>
  );
}

/** The parts of a path; null where its escapes are none. */
function partsOf(path: string): string[] | null {
  try {
    return path.replace(/\/+$/, '').split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

function Page({ path }: { path: string }) {
  const may = useAbilities();
  const parts = partsOf(path);
  if (parts === null) return <NotFound />;
  const [, area, id, ...rest] = parts;
  if (rest.length === 0) {
    if (id === undefined && (area === undefined || area === '' || area === 'sessions'))
      return <SessionsLoader />;
    if (id === undefined && area === 'dashboards') return <DashboardsLoader />;
    if (id === undefined && area === 'compare') return <CompareLoader />;
    if (id === undefined && area === 'reports') return may.readReports ? <ReportsLoader /> : <NotForRole />;
    if (id === undefined && area === 'shared-sessions')
      return may.listSessions ? <SharedSessionsLoader /> : <NotForRole />;
    if (area === 'project-list' && id !== undefined)
      return may.listSessions ? <ProjectLoader key={id} projectId={Number(id)} /> : <NotForRole />;
    if (area === 'templates' && id !== undefined)
      return may.listSessions ? <TemplateLoader key={id} templateId={Number(id)} /> : <NotForRole />;
    if (id === undefined && isAdminArea(area)) {
      return mayOpen(area, may) ? <AdminLoader key={area} area={area} /> : <NotForRole />;
    }
    if (area === 'runs') {
      return may.readRuns ? <RunLoader key={id} runId={id ?? null} /> : <NotForRole />;
    }
    if (area === 'sessions' && id !== undefined) {
      return <SessionLoader key={id} sessionId={id} />;
    }
    if (area === 'dashboards' && id !== undefined) {
      return <DashboardLoader key={id} dimensionId={id} />;
    }
  }
  return <NotFound />;
}

function NotFound() {
  useTitle('Page not found');
  return (
    <div class="page">
      <h1>Page not found</h1>
      <p>
        Check the address. <a href="/">Sessions</a>
      </p>
    </div>
  );
}

/** The requests would be refused, for some pages with the answer that ends a sign-in. */
function NotForRole() {
  useTitle('No access');
  return (
    <Empty isPage title="Your role has no access to this page">
      <p>
        An Administrator can change your role. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

const signingIn = { rows: 0, label: 'Signing in' };
/** Who is signed in needs none of these. */
const SignInLoader = lazy(() => import('./pages/sign-in.tsx').then((module) => module.SignInPage), signingIn);
const PasswordLoader = lazy(
  () => import('./pages/sign-in.tsx').then((module) => module.PasswordPage),
  signingIn,
);
const SignInAgainLoader = lazy(
  () => import('./pages/sign-in.tsx').then((module) => module.SignInAgain),
  signingIn,
);

/** Charts are needed on one page only, so their code is fetched when that page is opened. */
const DashboardLoader = lazy(() => import('./pages/dashboard.tsx').then((module) => module.DashboardPage), {
  rows: 4,
  label: 'Loading the dashboard',
});

/** One project. */
const ProjectLoader = lazy(() => import('./pages/project.tsx').then((module) => module.ProjectPage), {
  rows: 4,
  label: 'Loading the project',
});

/** One session template. */
const TemplateLoader = lazy(() => import('./pages/template.tsx').then((module) => module.TemplatePage), {
  rows: 6,
  label: 'Loading the template',
});

/** Charts of several sessions. */
const CompareLoader = lazy(() => import('./pages/compare.tsx').then((module) => module.ComparePage), {
  rows: 4,
  label: 'Loading the recordings',
});

/** The list of sessions, which the other pages do without. */
const SessionsLoader = lazy(() => import('./pages/sessions.tsx').then((module) => module.SessionsPage), {
  rows: 6,
  label: 'Loading sessions',
});

/** One session. */
const SessionLoader = lazy(() => import('./pages/session.tsx').then((module) => module.SessionPageView), {
  rows: 4,
  label: 'Loading the session',
});

/** The timeline's code is fetched when it is opened. */
const SharedSessionsLoader = lazy(
  () => import('./pages/shared-sessions.tsx').then((module) => module.SharedSessionsPage),
  { rows: 4, label: 'Loading the timeline' },
);

/** The list of dashboards. */
const DashboardsLoader = lazy(
  () => import('./pages/dashboards.tsx').then((module) => module.DashboardsPage),
  { rows: 4, label: 'Loading the page' },
);

/** Reports with their editor. */
const ReportsLoader = lazy(() => import('./pages/reports.tsx').then((module) => module.ReportsPage), {
  rows: 4,
  label: 'Loading the page',
});

/** The pages of runs are one bundle. */
const RunLoader = lazy(() => import('./pages/run.tsx').then((module) => module.RunPages), {
  rows: 4,
  label: 'Loading the page',
});

/** The pages for operators, which most people never open, are one bundle. */
const AdminLoader = lazy(
  () =>
    import('./pages/admin.ts').then(({ adminPages }) => (props: { area: AdminArea }) => {
      const View = adminPages[props.area];
      return <View />;
    }),
  { rows: 4, label: 'Loading the page' },
);

/** Keeps the frame of the console when a page fails unexpectedly, until another one is opened. */
class ErrorBoundary extends Component<
  { path: string; children: ComponentChildren },
  { failure: Error | null }
> {
  override state: { failure: Error | null } = { failure: null };

  override componentDidCatch(failure: Error): void {
    console.error(failure);
    this.setState({ failure });
  }

  override componentDidUpdate({ path }: { path: string }): void {
    if (path !== this.props.path && this.state.failure !== null) this.setState({ failure: null });
  }

  override render() {
    if (this.state.failure === null) return this.props.children;
    return (
      <ReloadNotice>This page cannot be shown because of an error. {this.state.failure.message}</ReloadNotice>
    );
  }
}
