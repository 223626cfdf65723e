/** The tabs: links, so that each can be opened, copied and gone back to. */
import { change, settings, tab } from '../state/store.js';
import { TABS, writeSettings, type Tab } from '../state/settings.js';
import { TabIcon } from './icons.js';

const NAMES: Readonly<Record<Tab, readonly [short: string, rest: string]>> = {
  play: ['Play', ''],
  erase: ['Erase', ' anything'],
  why: ['Why', ''],
  rules: ['Rule', ' map'],
  make: ['Make', ''],
  train: ['Train', ''],
};

export function TabBar() {
  return (
    <nav class="tabs" aria-label="Views">
      {TABS.map((name) => {
        const [short, rest] = NAMES[name];
        return (
          <a
            key={name}
            href={writeSettings({ ...settings.value, tab: name })}
            aria-current={tab.value === name ? 'page' : undefined}
            onClick={(event: MouseEvent) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              change({ tab: name }, true);
              scrollTo(0, 0);
            }}
          >
            <TabIcon tab={name} />
            <span>
              {short}
              <span class="wide-only">{rest}</span>
            </span>
          </a>
        );
      })}
    </nav>
  );
}
