/** Copies the address of the page as it is: a link that restores everything. */
import { useSignal } from '@preact/signals';
import { writeSettings } from '../state/settings.js';
import { settings } from '../state/store.js';
import { LinkIcon } from './icons.js';

const SHOWN_MILLISECONDS = 2500;

export function ShareButton() {
  const said = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(
        new URL(writeSettings(settings.peek()), location.href).href,
      );
      said.value = 'Link copied';
    } catch {
      // Refused, or a page without https: the address bar has the link as well.
      said.value = 'Not copied: the address bar has the link';
    }
    setTimeout(() => (said.value = ''), SHOWN_MILLISECONDS);
  };
  return (
    <span class="share">
      <button type="button" class="quiet" onClick={() => void copy()}>
        <LinkIcon /> <span>Share</span>
      </button>
      <span class="said" role="status">
        {said.value}
      </span>
    </span>
  );
}
