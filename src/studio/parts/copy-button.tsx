/** Copies a text; shows it to be selected if the browser refuses, or if it is asked to. */
import { useSignal } from '@preact/signals';

const SHOWN_MILLISECONDS = 2500;

interface CopyButtonProps {
  readonly label: string;
  /** Said once it is copied. */
  readonly done: string;
  /** Asked for when it is wanted. */
  readonly text: () => string;
  readonly disabled?: boolean;
  /** Whether the text is shown as well, until the next press. */
  readonly shows?: boolean;
}

export function CopyButton({
  label,
  done,
  text,
  disabled = false,
  shows = false,
}: CopyButtonProps) {
  const said = useSignal('');
  const isShown = useSignal(false);
  const copy = async (): Promise<void> => {
    if (shows) {
      isShown.value = !isShown.value;
      if (!isShown.value) return;
    }
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
      <button
        type="button"
        class="quiet"
        disabled={disabled}
        aria-expanded={shows ? isShown.value : undefined}
        onClick={() => void copy()}
      >
        <span aria-live="polite">{said.value || label}</span>
      </button>
      {isShown.value && <pre class="to-copy">{text()}</pre>}
    </>
  );
}
