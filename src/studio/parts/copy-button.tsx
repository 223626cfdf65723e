/** Copies a text; where a browser refuses, shows it to be selected. */
import { useSignal } from '@preact/signals';

const SHOWN_MILLISECONDS = 2500;

interface CopyButtonProps {
  readonly label: string;
  /** Said once it is copied. */
  readonly done: string;
  /** Asked for when it is wanted. */
  readonly text: () => string;
  readonly disabled?: boolean;
}

export function CopyButton({ label, done, text, disabled = false }: CopyButtonProps) {
  const said = useSignal('');
  const isShown = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      said.value = done;
    } catch {
      isShown.value = true;
    }
    setTimeout(() => (said.value = ''), SHOWN_MILLISECONDS);
  };
  return (
    <>
      <button type="button" class="quiet" disabled={disabled} onClick={() => void copy()}>
        <span aria-live="polite">{said.value || label}</span>
      </button>
      {isShown.value && <pre class="to-copy">{text()}</pre>}
    </>
  );
}
