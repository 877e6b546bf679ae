import { Component } from 'preact';
import type { AdminArea } from './admin-areas.ts';
import { isAdminArea, mayOpen } from './admin-areas.ts';
import { useAuth } from './hooks.ts';
import { DashboardsPage } from './pages/dashboards.tsx';
import { ReportsPage } from './pages/reports.tsx';
import { SessionPageView } from './pages/session.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { PasswordPage, SignInPage } from './pages/sign-in.tsx';
import { useAbilities } from './role.ts';
import { useAddress } from './router.ts';
import { Shell } from './shell.tsx';
import { ReloadNotice, useModule } from './ui/lazy.tsx';
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
      return <SessionsPage />;
    if (id === undefined && area === 'dashboards') return <DashboardsPage />;
    if (id === undefined && area === 'reports') return may.readReports ? <ReportsPage /> : <NotForRole />;
    if (id === undefined && area === 'shared-sessions')
      return may.listSessions ? <SharedSessionsLoader /> : <NotForRole />;
    if (id === undefined && isAdminArea(area)) {
      return mayOpen(area, may) ? <AdminLoader key={area} area={area} /> : <NotForRole />;
    }
    if (area === 'sessions' && id !== undefined) {
      return <SessionPageView key={id} sessionId={decodeURIComponent(id)} />;
    }
    if (area === 'dashboards' && id !== undefined) {
      return <DashboardLoader key={id} dimensionId={decodeURIComponent(id)} />;
    }
  }
  return (
    <Empty title="There is no such page">
      <p>
        The address may be mistyped. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

/** The requests would be refused, for some pages with the answer that ends a sign-in. */
function NotForRole() {
  return (
    <Empty title="This page is not for your role">
      <p>
        An Administrator can change your role. <a href="/">Sessions</a>
      </p>
    </Empty>
  );
}

/** Charts are needed on one page only, so their code is fetched when that page is opened. */
function DashboardLoader(props: { dimensionId: string }) {
  const View = useModule(
    () => import('./pages/dashboard.tsx'),
    (module) => module.DashboardPage,
  );
  if (View === 'failed') return <ReloadNotice />;
  if (View === null) return <Placeholder rows={4} label="Loading the dashboard" />;
  return <View dimensionId={props.dimensionId} />;
}

/** The timeline's code is fetched when it is opened. */
function SharedSessionsLoader() {
  const View = useModule(
    () => import('./pages/shared-sessions.tsx'),
    (module) => module.SharedSessionsPage,
  );
  if (View === 'failed') return <ReloadNotice />;
  if (View === null) return <Placeholder rows={4} label="Loading the timeline" />;
  return <View />;
}

/** The pages for operators, which most people never open, are one bundle. */
function AdminLoader(props: { area: AdminArea }) {
  const View = useModule(
    () => import('./pages/admin.ts'),
    (module) => module.adminPages[props.area],
  );
  if (View === 'failed') return <ReloadNotice />;
  if (View === null) return <Placeholder rows={4} label="Loading the page" />;
  return <View />;
}

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
      <ReloadNotice>
        This page met an error of its own and cannot be shown. {this.state.failure.message}
      </ReloadNotice>
    );
  }
}
