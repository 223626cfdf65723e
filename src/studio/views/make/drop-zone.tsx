/** A place for a person's own pictures: dropped, chosen or pasted. */
import { useSignal } from '@preact/signals';
import { messageOf } from '../../state/resource.js';
import { changeMatrix, engine, settings } from '../../state/store.js';

export function DropZone() {
  const fault = useSignal<string | null>(null);
  const busy = useSignal(false);
  const over = useSignal(false);

  const read = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    busy.value = true;
    fault.value = null;
    try {
      const given = files.map((file) => ({ name: file.name, blob: file }));
      const pictures = await engine.readPictures(given);
      changeMatrix({ pictures });
    } catch (error) {
      fault.value = messageOf(error);
    } finally {
      busy.value = false;
    }
  };

  return (
    <div class="drop">
      <label
        class={`drop-zone${over.value ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => (over.value = false)}
        onDrop={(event) => {
          event.preventDefault();
          over.value = false;
          void read([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <input
          type="file"
          multiple
          accept="image/*,.npz"
          disabled={busy.value}
          onChange={(event) => {
            const input = event.currentTarget;
            void read([...(input.files ?? [])]).then(() => (input.value = ''));
          }}
        />
        <strong>{busy.value ? 'Reading…' : 'Drop your own pictures'}</strong>
        <span>nine panels, one picture of a whole matrix, or a RAVEN .npz</span>
      </label>
      {settings.value.pictures !== '' && (
        <button type="button" class="quiet" onClick={() => changeMatrix({})}>
          Remove my pictures
        </button>
      )}
      {fault.value !== null && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
    </div>
  );
}
