/** A place for a person's own pictures: dropped, chosen or pasted. */
import { useSignal } from '@preact/signals';
import { browserPicture } from '../../../solver/index.js';
import type { GivenFile } from '../../engine/protocol.js';
import { messageOf } from '../../state/resource.js';
import { changeMatrix, engine, settings } from '../../state/store.js';
import { modelsFor } from '../../state/zoo.js';

/** A file as the engine's worker can read it: drawings become pixels here, because workers cannot draw SVG. */
async function readable(file: File): Promise<GivenFile> {
  const { name } = file;
  if (file.type !== 'image/svg+xml' && !/\.svg$/i.test(name)) return { name, blob: file };
  const { width, height, data } = await browserPicture(file, name);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')?.putImageData(new ImageData(Uint8ClampedArray.from(data), width), 0, 0);
  return { name, blob: await canvas.convertToBlob() };
}

/** What the page says about pictures of a layout, before it tries a model on them. */
function findingOf(layout: string | null): string {
  if (layout === null) return 'No model here knows such pictures.';
  if (modelsFor(layout)?.length === 0) {
    return `These are panels of ${layout}, and there is no model for them here.`;
  }
  return `These are panels of ${layout}, so its model solves them.`;
}

export function DropZone() {
  const fault = useSignal<string | null>(null);
  const busy = useSignal(false);
  const over = useSignal(false);
  const finding = useSignal<string | null>(null);

  const read = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    busy.value = true;
    fault.value = null;
    finding.value = null;
    try {
      const given = await Promise.all(files.map(readable));
      const { packed: pictures, layout } = await engine.readPictures(given);
      const isKnown = layout !== null && modelsFor(layout)?.length !== 0;
      const model = layout === settings.peek().layout ? settings.peek().model : '';
      changeMatrix(isKnown ? { pictures, layout, model } : { pictures });
      finding.value = findingOf(layout);
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
          accept="image/*,.svg,.npz"
          disabled={busy.value}
          onChange={(event) => {
            const input = event.currentTarget;
            void read([...(input.files ?? [])]).then(() => (input.value = ''));
          }}
        />
        <strong>{busy.value ? 'Reading…' : 'Drop your own pictures'}</strong>
        <span>nine panels, one picture of a whole matrix, or a RAVEN .npz</span>
      </label>
      {settings.value.pictures !== '' && finding.value !== null && (
        <p class="hint" role="status" data-testid="pictures-found">
          {finding.value}
        </p>
      )}
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
