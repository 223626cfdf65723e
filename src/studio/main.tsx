/** Where the page starts. */
import { render } from 'preact';
import { App } from './app.js';
import { refuseStrayFiles } from './parts/stray-files.js';
import { keepOffline } from './state/offline.js';
import { readZoo } from './state/zoo.js';

const root = document.getElementById('page');
if (root === null) throw new Error('the page has no place for the studio');
render(<App />, root);
keepOffline();
void readZoo();
refuseStrayFiles();
