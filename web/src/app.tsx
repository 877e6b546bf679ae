import { Component } from 'preact';
import type { AdminArea } from './admin-areas.ts';
import { isAdminArea, mayOpen } from './admin-areas.ts';
import { useAuth } from './hooks.ts';
import { PasswordPage, SignInPage } from './pages/sign-in.tsx';
import { useAbilities } from './role.ts';
import { useAddress } from './router.ts';
import { Shell } from './shell.tsx';
import { lazy, ReloadNotice } from './ui/lazy.tsx';
import { Empty, Placeholder } from './ui/notice.tsx';

/** The console: the sign-in form without a sign-in, else the page of the present address. */
export function App() {
  const auth = useAuth();
  if (auth.phase === 'restoring') return <Placeholder rows={0} label="Signing in" />;
  if (auth.signIn === null) return <SignInPage notice={auth.notice} />;
  if (auth.signIn.user.forceChangePasswordNextSignin === true)
    return <PasswordPage user={auth.signIn.user} />;
  return (
    <Shell user={auth.signIn.user}>
      <ErrorBoundary>
        <Page />
      </ErrorBoundary>
    </Shell>
  );
}

function Page() {
  const { path } = useAddress();
  const may = useAbilities();
  const [, area, id, ...rest] = path.replace(/\/+$/, '').split('/');
  if (rest.length === 0) {
    if (id === undefined && (area === undefined || area === '' || area === 'sessions'))
      return <SessionsLoader />;
    if (id === undefined && area === 'dashboards') return <DashboardsLoader />;
    if (id === undefined && area === 'compare') return <CompareLoader />;
    if (id === undefined && area === 'reports') return may.readReports ? <ReportsLoader /> : <NotForRole />;
    if (id === undefined && area === 'shared-sessions')
      return may.listSessions ? <SharedSessionsLoader /> : <NotForRole />;
    if (area === 'project-list' && id !== undefined)
      return may.listSessions ? (
        <ProjectLoader key={id} projectId={Number(decodeURIComponent(id))} />
      ) : (
        <NotForRole />
      );
    if (area === 'templates' && id !== undefined)
      return may.listSessions ? (
        <TemplateLoader key={id} templateId={Number(decodeURIComponent(id))} />
      ) : (
        <NotForRole />
      );
    if (id === undefined && isAdminArea(area)) {
      return mayOpen(area, may) ? <AdminLoader key={area} area={area} /> : <NotForRole />;
    }
    if (area === 'runs') {
      return may.readRuns ? (
        <RunLoader key={id} runId={id === undefined ? null : decodeURIComponent(id)} />
      ) : (
        <NotForRole />
      );
    }
    if (area === 'sessions' && id !== undefined) {
      return <SessionLoader key={id} sessionId={decodeURIComponent(id)} />;
    }
    if (area === 'dashboards' && id !== undefined) {
      return <DashboardLoader key={id} dimensionId={decodeURIComponent(id)} />;
    }
  }
  return (
    <Empty title="Page not found">
      <p>
        Check the address. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

/** The requests would be refused, for some pages with the answer that ends a sign-in. */
function NotForRole() {
  return (
    <Empty title="Your role has no access to this page">
      <p>
        An Administrator can change your role. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

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

/** Keeps the frame of the console when a page fails unexpectedly. */
class ErrorBoundary extends Component<object, { failure: Error | null }> {
  override state: { failure: Error | null } = { failure: null };

  override componentDidCatch(failure: Error): void {
    console.error(failure);
    this.setState({ failure });
  }

  override render() {
    if (this.state.failure === null) return this.props.children;
    return (
      <ReloadNotice>This page cannot be shown because of an error. {this.state.failure.message}</ReloadNotice>
    );
  }
}
