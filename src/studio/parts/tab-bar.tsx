/** The tabs: links, so that each can be opened, copied and gone back to. */
import { tab } from '../state/store.js';
import { TABS, type Tab } from '../state/settings.js';
import { TabIcon } from './icons.js';
import { StateLink } from './state-link.js';

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
        return (
          // Who goes elsewhere leaves the tour.
          <StateLink
            key={name}
            to={{ tab: name, tour: 0 }}
            aria-current={tab.value === name ? 'page' : undefined}
          >
            <TabIcon tab={name} />
            <span class="wide-only">{long}</span>
            <span class="narrow-only">{short}</span>
          </StateLink>
        );
      })}
    </nav>
  );
}
