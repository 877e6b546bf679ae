import { render } from 'preact';
import { App } from './app.tsx';
import { restoreSignIn } from './auth.ts';
import { applyPreferences } from './preferences.ts';
import { followLinksInside } from './router.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/sessions.css';
import './styles/session-list.css';
import './styles/metadata.css';
import './styles/session.css';
import './styles/node-panel.css';
import './styles/forms.css';
import './styles/pages.css';
import './styles/query.css';
import './styles/reports.css';
import './styles/print.css';

const root = document.getElementById('app');
if (root !== null) {
  applyPreferences();
  followLinksInside();
  void restoreSignIn();
  render(<App />, root);
}
