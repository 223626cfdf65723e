/** A link to another state of the page: a click goes there without loading the page anew. */
import type { JSX } from 'preact';
import { writeSettings, type Settings } from '../state/settings.js';
import { change, settings } from '../state/store.js';

interface StateLinkProps extends Omit<JSX.IntrinsicElements['a'], 'href' | 'onClick' | 'role'> {
  readonly to: Partial<Settings>;
}

export function StateLink({ to, ...attributes }: StateLinkProps) {
  return (
    <a
      {...attributes}
      href={writeSettings({ ...settings.value, ...to })}
      onClick={(event: MouseEvent) => {
        // These open another tab or window, as for any link.
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        change(to, true);
        scrollTo(0, 0);
      }}
    />
  );
}
