import { render } from 'preact';
import { App } from './app.tsx';
import { restoreSignIn } from './auth.ts';
import { applyPreferences, mendLanguage } from './preferences.ts';
import { followLinksInside } from './router.ts';
import { keepScrollPlaces } from './scroll-place.ts';
import { refuseStrayFiles } from './ui/drop-handlers.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/status.css';
import './styles/shell.css';
import './styles/large-text.css';
import './styles/sign-in.css';
import './styles/sessions.css';
import './styles/session-list.css';
import './styles/session/metadata.css';
import './styles/session/session.css';
import './styles/session/graph.css';
import './styles/session/uploads.css';
import './styles/session/node-panel.css';
import './styles/forms.css';
import './styles/pages.css';
import './styles/query.css';
import './styles/reports.css';
import './styles/forced-colours.css';
import './styles/print.css';

const root = document.getElementById('app');
if (root !== null) {
  // Before any part with charts is loaded.
  mendLanguage();
  applyPreferences();
  followLinksInside();
  keepScrollPlaces();
  refuseStrayFiles();
  void restoreSignIn();
  render(<App />, root);
}
