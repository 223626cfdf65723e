/** The tabs: links, so that each can be opened, copied and gone back to. */
import { change, settings, tab } from '../state/store.js';
import { TABS, writeSettings, type Tab } from '../state/settings.js';
import { TabIcon } from './icons.js';

/** Names, and shorter ones for phones. */
export const TAB_NAMES: Readonly<Record<Tab, readonly [name: string, short: string]>> = {
  play: ['Play', 'Play'],
  erase: ['Erase anything', 'Erase'],
  why: ['Why', 'Why'],
  rules: ['Rule map', 'Rules'],
  compare: ['Compare', 'Compare'],
  make: ['Make', 'Make'],
  test: ['Test', 'Test'],
  train: ['Train', 'Train'],
};

export function TabBar() {
  return (
    <nav class="tabs" aria-label="Views">
      {TABS.map((name) => {
        const [long, short] = TAB_NAMES[name];
        // Who goes elsewhere leaves the tour.
        const changes = { tab: name, tour: 0 };
        return (
          <a
            key={name}
            href={writeSettings({ ...settings.value, ...changes })}
            aria-current={tab.value === name ? 'page' : undefined}
            onClick={(event: MouseEvent) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              change(changes, true);
              scrollTo(0, 0);
            }}
          >
            <TabIcon tab={name} />
            <span class="wide-only">{long}</span>
            <span class="narrow-only">{short}</span>
          </a>
        );
      })}
    </nav>
  );
}
